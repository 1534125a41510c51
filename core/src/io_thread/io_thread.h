/* io_thread.h: a thread of the worker's that minds the connections of lanes which are busy for long: it
 * reads, parses, writes and times out, and passes complete requests on to whoever is idle. Asleep while no
 * lane is. Used by lane and worker; knows no host. */
#ifndef BB_IO_THREAD_H
#define BB_IO_THREAD_H

#include "system/poller.h"
#include "worker/worker.h"

struct bb__io_thread {
    struct bb__io_link link; /* the worker's and the lanes' */
    struct bb_worker *worker;
    pthread_t thread;
    struct bb__conn_context context;
    struct bb__batch batch;
    struct bb__source kick_source;
    atomic_bool ends;
    bool fresh;         /* the last look has found a new request */
    bool closely;       /* the wait behind the last look is a short one */
    unsigned quiet;     /* looks in a row without a new request */
    unsigned brief;     /* looks in a row at new requests only */
    unsigned none_idle; /* looks in a row at which no other process was idle */
    uint64_t
        waits_since; /* ms, when something was first seen to wait although lanes are idle; 0: nothing does */
    uint64_t left_since; /* ms, when something was first seen to be left to those that are; 0: nothing is */
    bool found_overdue;  /* the last look has found a request that has had its time */
    bool emptied;        /* requests that hang are all that is left, and that was told */
    uint64_t awaited_since;     /* ms, since when requests wait while lanes wait for clients, */
    uint64_t awaited_at;        /* and when that was seen last */
    uint64_t reset_at;          /* ms, when a reader was reset last: its lane needs a moment to go on */
    struct bb__event_pace lost; /* telling of connections that were */
    struct bb__event_pace slow; /* telling of readers that were reset */
    struct bb__event_pace log_losses;
    struct bb__event_pace trouble; /* telling that it hears of nothing */
    int tick;                      /* ms between two looks */
    uint64_t due_back;             /* us, when it is to look again, whatever happens */
};

/* NULL: there is none. */
static inline struct bb__io_thread *bb__io_of(const struct bb_worker *worker)
{
    return (struct bb__io_thread *)worker->io; /* its first member */
}

/* BB_OK; BB_ENOMEM or BB_ESYSTEM: there is none. Before the first lane. */
int bb__io_start(struct bb_worker *worker);

/* There are no lanes any more. NULL is allowed. False: it hangs, and goes on using its worker. */
bool bb__io_stop(struct bb__io_thread *io);

#endif
