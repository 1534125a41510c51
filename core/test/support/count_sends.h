/* count_sends.h: counts the calls of the functions that send bytes to a client, in all threads. A test that
 * includes this header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_COUNT_SENDS_H
#define BB_TEST_COUNT_SENDS_H

#include <stdatomic.h>

#include "system/sock.h"

int __real_bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent);
int __wrap_bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent);
int __real_bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent);
int __wrap_bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent);

static atomic_uint sends;

int __wrap_bb__sock_send(int fd, const char *bytes, size_t len, size_t *sent)
{
    atomic_fetch_add(&sends, 1);
    return __real_bb__sock_send(fd, bytes, len, sent);
}

int __wrap_bb__sock_send_parts(int fd, const struct iovec *parts, size_t count, size_t *sent)
{
    atomic_fetch_add(&sends, 1);
    return __real_bb__sock_send_parts(fd, parts, count, sent);
}

#endif
