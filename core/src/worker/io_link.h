/* io_link.h: the part of the worker's I/O thread (io_thread/io_thread.h) that the worker and its lanes use.
 * The I/O thread owns struct bb__io_link. */
#ifndef BB_IO_LINK_H
#define BB_IO_LINK_H

#include "sockets/poller.h"
#include "sockets/wakeup.h"

#include <pthread.h>
#include <stdatomic.h>

struct bb__io_link {
    struct bb__wakeup kick;  /* wakes the I/O thread */
    atomic_bool asleep;      /* the I/O thread waits for events in `queue` */
    atomic_bool ended;       /* the I/O thread uses nothing any more */
    atomic_bool gathers;     /* the I/O thread looks at gathered parts (lane/reply_gather.c) within BB_TICK */
    atomic_bool has_unsent;  /* the same for unsent bytes, less often */
    bool hangs;              /* bb__io_hangs() has waited for `lock` in vain */
    struct bb__poller queue; /* watches kick.fd, and the pollers of busy lanes (edge-triggered) */
    pthread_mutex_t lock; /* held while the I/O thread looks at lanes, and while a lane is added or removed */
    pthread_mutex_t time_lock; /* guards the data of lane_time.c; never held for long */
};

/* Call this when a lane has begun a request while other connections may wait for the lane. Wakes the I/O
 * thread if it sleeps. */
static inline void bb__io_notice(struct bb__io_link *io)
{
    if (atomic_load(&io->asleep) && atomic_exchange(&io->asleep, false)) bb__wakeup_raise(&io->kick);
}

/* Waits up to a second for `lock`. True: the I/O thread still holds `lock`, so the caller must not free data
 * that the I/O thread may use. Returns false for NULL. */
bool bb__io_hangs(struct bb__io_link *io);

/* Waits up to a second until the I/O thread has ended. Returns whether it has. The I/O thread may not end,
 * because a stalled disk may block it. */
bool bb__io_has_ended(const struct bb__io_link *io);

#endif
