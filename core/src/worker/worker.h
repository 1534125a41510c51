/* worker.h: what the lanes of one process share: settings, listeners, budgets, the order to drain. Lives as
 * long as its lanes; every lane reads it. What changes is atomic, or behind the lock. */
#ifndef BB_WORKER_H
#define BB_WORKER_H

#include "conn/conn_admission.h"
#include "log/log_format.h"
#include "system/log_sink.h"
#include "system/scoreboard.h"
#include "system/shared_queue.h"
#include "worker/io_link.h"
#include "worker/worker_intake.h"

#include <pthread.h>

#define BB_LISTENERS_MAX 64

/* After this many answers in a row on one connection, or accepts in a row, others come first. */
#define BB_IN_A_ROW 16

/* Clients may connect faster than they are taken: an end to what is taken of one queue. */
#define BB_TAKEN_MAX 16384

struct bb__listener {
    struct bb__source source;
    int fd;
    uint8_t number;
    bool tcp;
    bool useless; /* for ever; the worker's lock guards it */
};

/* A connection that was queued when the order to drain came, until a lane takes it. */
struct bb__queued {
    struct bb__queued *next;
    const struct bb__listener *listener;
    uint64_t ready_at; /* us */
    int fd;
    char peer[BB_PEER_MAX];
};

/* All listeners of a worker are in the same state. */
enum bb__listeners_state {
    BB_LISTENERS_OPEN,       /* after the order to drain, too, until there is room for what is queued */
    BB_LISTENERS_CLOSED,     /* a lane may be about to use a number: something that accepts nothing has it */
    BB_LISTENERS_GIVEN_BACK, /* no lane uses the numbers any more: they may be anybody's */
};

/* Requests that have had all of their time. */
enum bb__overdue {
    BB_OVERDUE_NONE,
    BB_OVERDUE_NEW,   /* the host has not asked yet */
    BB_OVERDUE_TAKEN, /* it logs them */
    BB_OVERDUE_LOGGED,
};

struct bb_worker {
    struct bb_settings settings;
    struct bb__trusted_proxies trusted; /* trusted_proxies */
    struct bb__listener listeners[BB_LISTENERS_MAX];
    uint16_t ports[BB_LISTENERS_MAX];       /* by a listener's number; 0: it has none */
    uint64_t addresses[BB_LISTENERS_MAX];   /* likewise: bb__sock_address() */
    uint64_t numbers;                       /* of listeners: a bit for each, also when they are closed */
    int listener_count;                     /* closed ones too: lanes read it without the lock */
    int reserve;                            /* descriptors from this one on are left to the host */
    atomic_uint_fast64_t room;              /* connections that fit below it, as was found out; 0: not yet */
    atomic_uint_fast64_t connections_limit; /* max_connections, or less for want of room; UINT64_MAX: none */
    atomic_uint_fast64_t ended_slow;        /* ms, when a slow client was ended last for want of room */
    struct bb__spool_budget spool_budget;
    struct bb__shared_queue shared_queue; /* in no set that is not watched for listeners, too */
    struct bb__source shared_queue_source;
    struct bb__io_link *io; /* the I/O thread's; NULL: there is none */
    bool counts_time;       /* of requests, or how many wait: it is limited, if only softly */
    atomic_int overdue;     /* enum bb__overdue */
    atomic_bool active; /* requests are in hand, or were of late: the I/O thread looks from time to time */
    atomic_bool stuck;  /* all lanes have requests that have had all of it: who replaces us is told */
    int alarm_fd;       /* an eventfd */
    atomic_uint_fast64_t
        starved; /* ms, since when it has no connection and no descriptor for one; 0: it has */
    int tell_fd; /* -1: nobody is told */
    char tell_bytes[BB_TELLS];
    struct bb_scoreboard *scoreboard; /* NULL: there is none */
    struct bb__conn_admission admission;
    int pid;

    struct bb__log_format log_format;
    struct bb__log_sink log_sink; /* of an access log, if one is kept */

    atomic_uint_fast64_t drain_began; /* ms, when the order came; 0: it has not */
    atomic_int drain_queue;           /* enum bb_queue, of that order */
    struct bb__source drain_source;
    int drain_fd; /* an eventfd that every lane watches; readable from the order to drain on */

    atomic_int lanes_listening;       /* the last one that stops gives the listeners' numbers back */
    atomic_uint_fast64_t connections; /* of all lanes, for max_connections */
    unsigned process_generation;      /* bb__process_generation when it was made */

    pthread_mutex_t lock;       /* guards the listeners, the sets that they are in, and what follows */
    atomic_int listeners_state; /* read without it only when an accept4 has failed */
    struct bb__intake *lanes;   /* all that live */
    _Atomic(struct bb__intake *) aside; /* for it the sources have left every set; NULL */
    atomic_bool accept_paused;          /* they have, as a lane is busy and another process is not */
    atomic_uint lane_count;
    atomic_uint lanes_woken;                 /* whose hosts wait for their lock */
    struct bb__queued *queued, *queued_last; /* the oldest first */
    atomic_uint queued_count;
    struct bb__event_ring events; /* the I/O thread's, which no host asks */
    atomic_bool has_events;
};

/* Counts the forks on the way from the first process to this one. */
extern atomic_uint bb__process_generation;

/* True in a child that was forked after the worker was made: descriptors and epoll sets are the parent's,
 * hands off. */
static inline bool bb__worker_is_inert(const struct bb_worker *worker)
{
    return worker->process_generation != atomic_load_explicit(&bb__process_generation, memory_order_relaxed);
}

/* Connections that there is room for, as was found out; 0: as many as are allowed. */
void bb__worker_set_room(struct bb_worker *worker, uint64_t room);

static inline bool bb__worker_has_closed(const struct bb_worker *worker)
{
    return atomic_load(&worker->listeners_state) != BB_LISTENERS_OPEN;
}

/* How many listeners are open, useless ones as well. The caller has the lock. */
static inline int bb__worker_count_open(const struct bb_worker *worker)
{
    return bb__worker_has_closed(worker) ? 0 : worker->listener_count;
}

static inline bool bb__worker_is_over_limit(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->connections, memory_order_relaxed) >
           atomic_load_explicit(&worker->connections_limit, memory_order_relaxed);
}

static inline bool bb__worker_drains(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->drain_began, memory_order_relaxed) != 0;
}

static inline bool bb__worker_has_room(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->connections, memory_order_relaxed) <
           atomic_load_explicit(&worker->connections_limit, memory_order_relaxed);
}

/* A number of the reserve tells how many there is room for: then false. That many it is until half of them
 * have gone. */
static inline bool bb__worker_find_room(struct bb_worker *worker, int newest)
{
    uint64_t count = atomic_load_explicit(&worker->connections, memory_order_relaxed);
    uint64_t found = atomic_load_explicit(&worker->room, memory_order_relaxed);
    if (newest >= worker->reserve && (found == 0 || count <= found))
        bb__worker_set_room(worker, count > 1 ? count - 1 : 1);
    else if (newest >= worker->reserve)
        return false;
    else if (found > 0 && count <= found / 2)
        bb__worker_set_room(worker, 0);
    return newest < worker->reserve;
}

/* conn_context.c. Its deadlines are those of the set that is minded. BB_OK or BB_ENOMEM;
 * bb__conn_context_close() is due either way. */
int bb__conn_context_open(struct bb__conn_context *context, struct bb_worker *worker);
void bb__conn_context_close(struct bb__conn_context *context);

/* Takes what the listeners' queues hold, for the lanes, and closes the listeners. 0, also when they were
 * closed before; else the errno for which some are still queued, and nothing is closed. */
int bb__worker_take_queues(struct bb_worker *worker);

/* One of those that were queued when the order to drain came, the caller's to free, or NULL. */
struct bb__queued *bb__worker_take_queued(struct bb_worker *worker);

static inline bool bb__worker_has_queued(struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->queued_count, memory_order_acquire) > 0;
}

/* Whether there is something in the listeners' queues, or in the shared queue. The caller has the lock. */
bool bb__worker_is_awaited(struct bb_worker *worker);

/* Whether a request waits in the shared queue, or a connection in a listener's queue; no nudge counts. The
 * caller has the lock. */
bool bb__worker_has_waiting(struct bb_worker *worker);

/* The wake-up for a connection, or for a message, may have reached a lane that does something else now: has
 * one that sleeps, of whatever process, look. The caller has the lock. */
void bb__worker_nudge(struct bb_worker *worker);

/* worker_drain.c: the worker drains, and others go on serving, or will in its place: its connections are for
 * them. */
bool bb__worker_hands_over(const struct bb_worker *worker);

/* The worker drains, and might be the last one to do so: what has been passed on is for it. */
static inline bool bb__worker_is_last(const struct bb_worker *worker)
{
    return bb__worker_drains(worker) && !bb__worker_hands_over(worker);
}

/* Nothing is to wait for a lane of this worker's: the host does something else, or has a lane that is busy.
 */
static inline bool bb__worker_has_paused_accepting(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->accept_paused, memory_order_relaxed) || worker->aside;
}

/* What the I/O thread has to tell, for a lane or whoever asks first; and what of it a ring has room for. */
void bb__worker_give_events(struct bb_worker *worker, struct bb__event_ring *ring);
void bb__worker_take_events(struct bb_worker *worker, struct bb__event_ring *ring);

/* To the parent, if there is one. */
void bb__worker_tell_parent(const struct bb_worker *worker, enum bb_tell what);

/* Closes the listeners, or what stands in their place, unless that is done. The caller has the lock, or there
 * is no lane any more. */
void bb__worker_give_numbers_back(struct bb_worker *worker);

/* A lane has taken the listeners into its set, or out of it for good. */
void bb__worker_lane_listens(struct bb_worker *worker);
void bb__worker_lane_stops(struct bb_worker *worker);

#endif
