/* fail_socket.h: connections that cannot be accepted, sockets that epoll cannot watch, and a function that is
 * called just before epoll stops watching a socket. A test that includes this header is linked with --wrap
 * (see the Makefile). */
#ifndef BB_TEST_FAIL_SOCKET_H
#define BB_TEST_FAIL_SOCKET_H

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

int __real_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __real_epoll_ctl(int set, int operation, int fd, struct epoll_event *event);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags);
int __wrap_epoll_ctl(int set, int operation, int fd, struct epoll_event *event);

static struct {
    const int *accept_errors; /* errno of the next calls of accept4(); 0 ends the list */
    int watch_error;          /* epoll_ctl() with EPOLL_CTL_ADD fails with this errno */
    uint32_t watch_events;    /* the call fails only if it asks for all of these events; 0: it always fails */
    void (*before_unwatching)(void);
} fail_socket;

int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
    if (!fail_socket.accept_errors || *fail_socket.accept_errors == 0)
        return __real_accept4(fd, address, len, flags);
    errno = *fail_socket.accept_errors++;
    return -1;
}

int __wrap_epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    if (operation == EPOLL_CTL_DEL && fail_socket.before_unwatching) fail_socket.before_unwatching();
    if (fail_socket.watch_error == 0 || operation != EPOLL_CTL_ADD ||
        (event->events & fail_socket.watch_events) != fail_socket.watch_events)
        return __real_epoll_ctl(set, operation, fd, event);
    errno = fail_socket.watch_error;
    return -1;
}

#endif
