/* io_link.h: what the worker and its lanes need of the worker's I/O thread (io_thread/io_thread.h). The
 * thread owns it.
 */
#ifndef BB_IO_LINK_H
#define BB_IO_LINK_H

#include "system/poller.h"

#include <pthread.h>
#include <stdatomic.h>

struct bb__io_link {
    int kick_fd;
    atomic_bool asleep;        /* it waits for a kick, for as long as it takes */
    bool hangs;                /* whoever frees its worker has waited for it in vain */
    struct bb__poller queue;   /* the kick, and the sets that it holds, edge-triggered */
    pthread_mutex_t lock;      /* it looks at lanes: one that begins or ends waits */
    pthread_mutex_t time_lock; /* guards what lane_time.c looks at; never held for long */
};

/* A lane has begun a request, and others may be waiting for it. */
static inline void bb__io_notice(struct bb__io_link *io)
{
    if (atomic_load(&io->asleep) && atomic_exchange(&io->asleep, false)) bb__eventfd_raise(io->kick_fd);
}

/* Whether it has not come back from a step within a second: nothing that it may use is to be freed. NULL is
 * allowed. */
bool bb__io_hangs(struct bb__io_link *io);

/* A disk that stalls may keep the I/O thread in one step. Whoever ends the process waits until then. */
struct timespec bb__io_wait_end(void);

#endif
