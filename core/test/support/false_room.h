/* false_room.h: a poll() that always reports room for writing, as if another writer filled this room just
 * after the poll. A test that includes this header is linked with --wrap (see the Makefile). */
#ifndef BB_TEST_FALSE_ROOM_H
#define BB_TEST_FALSE_ROOM_H

#include <poll.h>
#include <stdbool.h>
#include <sys/uio.h>

int __real_poll(struct pollfd *asked, nfds_t count, int wait_time);
int __wrap_poll(struct pollfd *asked, nfds_t count, int wait_time);

static bool false_room;

int __wrap_poll(struct pollfd *asked, nfds_t count, int wait_time)
{
    if (!false_room) return __real_poll(asked, count, wait_time);
    for (nfds_t i = 0; i < count; i++) asked[i].revents = asked[i].events;
    return (int)count;
}

/* Whether the kernel can write to this pipe without a wait (RWF_NOWAIT). Older kernels cannot. */
static inline bool knows_not_to_wait(int pipe_end)
{
#ifdef RWF_NOWAIT
    return pwritev2(pipe_end, &(struct iovec){"\n", 1}, 1, -1, RWF_NOWAIT) == 1;
#else
    (void)pipe_end;
    return false;
#endif
}

#endif
