/* poller_epoll.c: see poller.h. */
#include "bontebok.h"
#ifndef BB_PORTABLE

#include "sockets/poller.h"

#include <errno.h>
#include <unistd.h>

/* struct bb__poller_event and enum bb__interest are epoll's own, so events and masks are not converted. */
_Static_assert(POLLIN == EPOLLIN && POLLOUT == EPOLLOUT && POLLERR == EPOLLERR && POLLHUP == EPOLLHUP,
               "poll and epoll have the same masks");

int bb__poller_open(struct bb__poller *poller)
{
    poller->fd = epoll_create1(EPOLL_CLOEXEC);
    return poller->fd < 0 ? BB_ESYSTEM : BB_OK;
}

void bb__poller_close(struct bb__poller *poller)
{
    if (poller->fd >= 0) (void)close(poller->fd);
    poller->fd = -1;
}

static int control(struct bb__poller *poller, int operation, int fd, uint32_t events, void *tag)
{
    struct bb__poller_event event = {.events = events, .data.ptr = tag};
    return epoll_ctl(poller->fd, operation, fd, &event) < 0 ? BB_ESYSTEM : BB_OK;
}

int bb__poller_add(struct bb__poller *poller, int fd, uint32_t interest, void *tag)
{
    return control(poller, EPOLL_CTL_ADD, fd, interest, tag);
}

int bb__poller_change(struct bb__poller *poller, int fd, uint32_t interest, void *tag)
{
    return control(poller, EPOLL_CTL_MOD, fd, interest, tag);
}

void bb__poller_remove(struct bb__poller *poller, int fd)
{
    (void)control(poller, EPOLL_CTL_DEL, fd, 0, NULL);
}

int bb__poller_add_shared(struct bb__poller *poller, int fd, void *tag)
{
    return control(poller, EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLEXCLUSIVE, tag);
}

int bb__poller_add_poller(struct bb__poller *poller, struct bb__poller *added, void *tag)
{
    return control(poller, EPOLL_CTL_ADD, added->fd, EPOLLIN | EPOLLET, tag);
}

void bb__poller_remove_poller(struct bb__poller *poller, struct bb__poller *added)
{
    bb__poller_remove(poller, added->fd);
}

int bb__poller_wait(struct bb__poller *poller, struct bb__batch *batch, int timeout_ms)
{
    int count = epoll_wait(poller->fd, batch->events, BB_BATCH, timeout_ms);
    batch->count = count > 0 ? count : 0;
    batch->next = 0;
    return count < 0 && errno != EINTR ? BB_ESYSTEM : BB_OK;
}

#endif
