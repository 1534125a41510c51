/* io_thread.h: one thread of each worker that handles the connections of lanes with long requests. It reads,
 * parses, writes and applies timeouts, and passes complete requests on to idle lanes. It sleeps while no lane
 * has a long request. Used by api; it knows no host. */
#ifndef BB_IO_THREAD_H
#define BB_IO_THREAD_H

#include "system/poller.h"
#include "worker/worker.h"

struct bb__io_thread {
    struct bb__io_link link; /* what the worker and its lanes need of this thread */
    struct bb_worker *worker;
    pthread_t thread;
    struct bb__conn_context context;
    struct bb__batch batch;
    struct bb__source kick_source;
    atomic_bool ends;
    bool fresh;                 /* the last look saw a new request */
    bool closely;               /* the next look follows after a short wait */
    unsigned quiet;             /* looks in a row that saw no new request */
    unsigned brief;             /* looks in a row that saw new requests only */
    unsigned none_idle;         /* looks in a row that saw no idle process */
    uint64_t waits_since;       /* ms, since when a request waits although lanes are idle; 0: none waits */
    uint64_t left_since;        /* ms, since when a connection waits for an idle process; 0: none waits */
    bool found_overdue;         /* the last look saw a request that is past request_timeout */
    bool emptied;               /* only overdue requests are left, and the parent knows */
    uint64_t awaited_since;     /* ms, since when requests wait while lanes wait for clients */
    uint64_t awaited_at;        /* ms, when such a request was last seen */
    uint64_t reset_at;          /* ms, when a reader was last reset; its lane needs some time to continue */
    struct bb__event_pace lost; /* limits events about lost connections */
    struct bb__event_pace slow; /* limits events about readers that were reset */
    struct bb__event_pace log_losses;
    struct bb__event_pace trouble; /* limits events about a poller that fails */
    int tick;                      /* ms between two looks */
    uint64_t due_back;             /* us, when the next look is due at the latest */
};

/* NULL: the worker has no I/O thread. */
static inline struct bb__io_thread *bb__io_of(const struct bb_worker *worker)
{
    return (struct bb__io_thread *)worker->io; /* the first member */
}

/* Starts the worker's I/O thread. Call it before the first lane begins. Returns BB_OK; BB_ENOMEM or
 * BB_ESYSTEM: the worker has none. */
int bb__io_start(struct bb_worker *worker);

/* Ends and frees the I/O thread. No lane is left. NULL is allowed. False: the thread hangs and still uses its
 * worker. */
bool bb__io_stop(struct bb__io_thread *io);

#endif
