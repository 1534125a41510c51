/* fail_shared_queue.h: makes sends to the shared queue fail. A test that includes this header is linked with
 * --wrap (see the Makefile). */
#ifndef BB_TEST_FAIL_SHARED_QUEUE_H
#define BB_TEST_FAIL_SHARED_QUEUE_H

#include <errno.h>

#include "bontebok.h"
#include "system/shared_queue.h"

int __real_bb__shared_queue_send(const struct bb__shared_queue *shared_queue, uint64_t since,
                                 const struct iovec *parts, size_t count, const int *fds, size_t fd_count);
int __wrap_bb__shared_queue_send(const struct bb__shared_queue *shared_queue, uint64_t since,
                                 const struct iovec *parts, size_t count, const int *fds, size_t fd_count);

/* Only messages with descriptors count. tries: messages so far; failures: how many of the next messages
 * cannot be sent. */
static struct {
    unsigned tries, failures;
    int error; /* errno of the failures; 0: there is no room */
} fail_shared_queue;

int __wrap_bb__shared_queue_send(const struct bb__shared_queue *shared_queue, uint64_t since,
                                 const struct iovec *parts, size_t count, const int *fds, size_t fd_count)
{
    if (fd_count > 0) fail_shared_queue.tries++;
    if (fd_count == 0 || fail_shared_queue.failures == 0)
        return __real_bb__shared_queue_send(shared_queue, since, parts, count, fds, fd_count);
    fail_shared_queue.failures--;
    errno = fail_shared_queue.error;
    return fail_shared_queue.error ? BB_ESYSTEM : BB_AGAIN;
}

#endif
