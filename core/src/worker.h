/* worker.h: what the lanes of one process share: settings, listeners, budgets, the order to drain. Lives as
 * long as its lanes; every lane reads it. What changes is atomic, or behind the lock. */
#ifndef BB_WORKER_H
#define BB_WORKER_H

#include "conn.h"
#include "log_format.h"
#include "log_sink.h"

#include <pthread.h>

#define BB_LISTENERS_MAX 64

/* Clients may connect faster than they are taken: an end to what is taken of one queue. */
#define BB_TAKEN_MAX 16384

struct bb__listener {
    struct bb__source source;
    int fd;
    uint8_t number;
    bool tcp;
};

/* A connection that was queued when the order to drain came, until a lane takes it. */
struct bb__queued {
    struct bb__queued *next;
    const struct bb__listener *listener;
    int fd;
    char peer[BB_PEER_MAX];
};

struct bb_worker {
    struct bb_settings settings;
    struct bb__listener listeners[BB_LISTENERS_MAX];
    uint16_t ports[BB_LISTENERS_MAX]; /* by a listener's number; 0: it has none */
    int listener_count;
    struct bb__spool_budget spool_budget;

    struct bb__log_format log_format;
    struct bb__log_sink log_sink; /* its fd: -1 when no access log is kept */

    atomic_uint_fast64_t drain_began; /* ms, when the order came; 0: it has not */
    struct bb__source drain_source;
    int drain_fd; /* an eventfd that every lane watches; readable from the order to drain on */

    atomic_int lanes_listening;       /* the last one that stops closes what is in the listeners' place */
    atomic_uint_fast64_t connections; /* of all lanes, for max_connections */
    unsigned process_generation;

    /* Listeners are open; then closed, while something that accepts nothing has their numbers, as a lane may
     * be about to use one; then, when the last lane has stopped, their numbers are given back. */
    pthread_mutex_t lock;   /* guards the listeners, the sets that they are in, and what follows */
    atomic_bool has_closed; /* the listeners */
    struct bb_lane *lanes;  /* all that live */
    struct bb_lane *aside;  /* for it the listeners have left every set; NULL */
    atomic_uint lane_count;
    struct bb__queued *queued, *queued_last; /* the oldest first */
    atomic_uint queued_count;
};

/* True in a child that was forked after the worker was made: descriptors and epoll sets are the parent's,
 * hands off. */
bool bb__worker_is_inert(const struct bb_worker *worker);

static inline bool bb__worker_drains(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->drain_began, memory_order_relaxed) != 0;
}

/* A lane begins, and ends. */
void bb__worker_add_lane(struct bb_worker *worker, struct bb_lane *lane);
void bb__worker_remove_lane(struct bb_worker *worker, struct bb_lane *lane);

/* Takes what the listeners' queues hold, for the lanes, and closes the listeners. 0, also when they were
 * closed before; else the errno for which some are still queued, and nothing is closed. */
int bb__worker_take_queues(struct bb_worker *worker);

/* One of those that were queued when the order to drain came, the caller's to free, or NULL. */
struct bb__queued *bb__worker_take_queued(struct bb_worker *worker);

static inline bool bb__worker_has_queued(struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->queued_count, memory_order_acquire) > 0;
}

/* A lane has taken the listeners into its set, or out of it for good. */
void bb__worker_lane_listens(struct bb_worker *worker);
void bb__worker_lane_stops(struct bb_worker *worker);

#endif
