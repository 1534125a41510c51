/* io_link.h: the part of the worker's I/O thread (io_thread/io_thread.h) that the worker and its lanes
 * use. The I/O thread owns it. */
#ifndef BB_IO_LINK_H
#define BB_IO_LINK_H

#include "system/poller.h"

#include <pthread.h>
#include <stdatomic.h>

struct bb__io_link {
    int kick_fd;
    atomic_bool asleep;        /* the I/O thread waits for events in `queue` */
    bool hangs;                /* the thread that frees the worker has waited for the I/O thread in vain */
    struct bb__poller queue;   /* the kick, and the sets that the I/O thread has taken, edge-triggered */
    pthread_mutex_t lock;      /* held while the I/O thread looks at lanes, and while one begins or ends */
    pthread_mutex_t time_lock; /* guards the data of lane_time.c; never held for long */
};

/* A lane has begun a request, and other connections may wait for the lane. Wakes the I/O thread if it
 * sleeps. */
static inline void bb__io_notice(struct bb__io_link *io)
{
    if (atomic_load(&io->asleep) && atomic_exchange(&io->asleep, false)) bb__eventfd_raise(io->kick_fd);
}

/* Waits up to a second for `lock`. True: the I/O thread still holds it, so nothing that this thread may use
 * can be freed. NULL is allowed. */
bool bb__io_hangs(struct bb__io_link *io);

/* Returns the time (CLOCK_REALTIME) until which the end of the process waits for the I/O thread. A stalled
 * disk may block this thread. */
struct timespec bb__io_wait_end(void);

#endif
