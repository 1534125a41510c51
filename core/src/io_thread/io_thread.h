/* io_thread.h: the I/O thread. Each worker has one I/O thread. While a lane has a long request, the I/O
 * thread handles the lane's set (its connections). It reads, parses, writes, applies timeouts, and passes
 * complete requests on to idle lanes. Used by api/. The I/O thread never runs code of the host (Ruby). */
#ifndef BB_IO_THREAD_H
#define BB_IO_THREAD_H

#include "sockets/poller.h"
#include "worker/worker.h"

struct bb__io_thread {
    struct bb__io_link link; /* the part that the worker and its lanes use */
    struct bb_worker *worker;
    pthread_t thread;
    struct bb__conn_context context;
    struct bb__batch batch;
    struct bb__source kick_source;
    atomic_bool ends;
    bool fresh;             /* the last look (check of all lanes) saw a new request */
    bool closely;           /* the wait for the next look is only BB_TICK */
    unsigned quiet;         /* looks in a row that saw no new request */
    unsigned brief;         /* looks in a row in which all requests were short, so no set was taken */
    unsigned none_idle;     /* looks in a row that saw no other idle process */
    uint64_t waits_since;   /* ms, when a request began to wait although lanes are idle; 0: none waits */
    uint64_t left_since;    /* ms, when a connection began to wait for an idle process; 0: none waits */
    bool found_overdue;     /* a request has passed request_timeout, and the parent does not know it yet */
    bool emptied;           /* only overdue requests are left, and the parent knows this */
    uint64_t awaited_since; /* ms, when requests began to wait while lanes wait for clients */
    uint64_t awaited_at;    /* ms, when requests were last seen to wait while lanes wait for clients */
    uint64_t reset_at;      /* ms, when a reader was last reset; the waiting lane needs time to continue */
    struct bb__event_pace lost; /* limits events about lost connections */
    struct bb__event_pace slow; /* limits events about readers that were reset */
    struct bb__event_pace log_losses;
    struct bb__event_pace trouble; /* limits events about a poller that fails */
    int tick;                      /* ms between two looks */
    uint64_t due_back;             /* us, the latest time of the next look */
};

/* Returns NULL if the worker has no I/O thread. */
static inline struct bb__io_thread *bb__io_of(const struct bb_worker *worker)
{
    return (struct bb__io_thread *)worker->io; /* the first member */
}

/* Starts the worker's I/O thread. Call this before the first lane begins. Returns BB_OK, or BB_ENOMEM or
 * BB_ESYSTEM if no thread was started. */
int bb__io_start(struct bb_worker *worker);

/* Ends the I/O thread and frees its data. Call this after all lanes were freed. NULL is allowed. Returns
 * false if the thread hangs. Then nothing is freed, because the thread still uses its worker. */
bool bb__io_stop(struct bb__io_thread *io);

#endif
