/* fail_socket.h: connections that cannot be accepted, descriptors that a poller cannot watch, and a function
 * that is called just before a poller stops watching a descriptor. A test that includes this header is linked
 * with --wrap (see the Makefile). */
#ifndef BB_TEST_FAIL_SOCKET_H
#define BB_TEST_FAIL_SOCKET_H

#include <errno.h>
#include <sys/socket.h>

#include "bontebok.h"
#include "sockets/poller.h"

int __real_accept(int fd, struct sockaddr *address, socklen_t *len);
int __real_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __real_bb__poller_add(struct bb__poller *poller, int fd, uint32_t interest, void *tag);
int __real_bb__poller_add_shared(struct bb__poller *poller, int fd, void *tag);
int __real_bb__poller_add_poller(struct bb__poller *poller, struct bb__poller *added, void *tag);
void __real_bb__poller_remove(struct bb__poller *poller, int fd);
int __wrap_accept(int fd, struct sockaddr *address, socklen_t *len);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __wrap_bb__poller_add(struct bb__poller *poller, int fd, uint32_t interest, void *tag);
int __wrap_bb__poller_add_shared(struct bb__poller *poller, int fd, void *tag);
int __wrap_bb__poller_add_poller(struct bb__poller *poller, struct bb__poller *added, void *tag);
void __wrap_bb__poller_remove(struct bb__poller *poller, int fd);

static struct {
    const int *accept_errors; /* errno of the next calls of accept() or accept4(); 0 ends the list */
    int watch_error;          /* no descriptor can be added to a poller: errno */
    int watch_poller_error;   /* no poller can be added to a poller: errno */
    void (*before_unwatching)(void);
} fail_socket;

static bool fail_accept(void)
{
    if (!fail_socket.accept_errors || *fail_socket.accept_errors == 0) return false;
    errno = *fail_socket.accept_errors++;
    return true;
}

int __wrap_accept(int fd, struct sockaddr *address, socklen_t *len)
{
    return fail_accept() ? -1 : __real_accept(fd, address, len);
}

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
    return fail_accept() ? -1 : __real_accept4(fd, address, len, flags);
}

static int fail_watch(int error)
{
    errno = error;
    return BB_ESYSTEM;
}

int __wrap_bb__poller_add(struct bb__poller *poller, int fd, uint32_t interest, void *tag)
{
    return fail_socket.watch_error ? fail_watch(fail_socket.watch_error)
                                   : __real_bb__poller_add(poller, fd, interest, tag);
}

int __wrap_bb__poller_add_shared(struct bb__poller *poller, int fd, void *tag)
{
    return fail_socket.watch_error ? fail_watch(fail_socket.watch_error)
                                   : __real_bb__poller_add_shared(poller, fd, tag);
}

int __wrap_bb__poller_add_poller(struct bb__poller *poller, struct bb__poller *added, void *tag)
{
    return fail_socket.watch_poller_error ? fail_watch(fail_socket.watch_poller_error)
                                          : __real_bb__poller_add_poller(poller, added, tag);
}

void __wrap_bb__poller_remove(struct bb__poller *poller, int fd)
{
    if (fail_socket.before_unwatching) fail_socket.before_unwatching();
    __real_bb__poller_remove(poller, fd);
}

#endif
