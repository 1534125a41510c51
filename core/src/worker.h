/* worker.h: what the lanes of one process share: settings, listeners, budgets, the order to drain. Lives as
 * long as its lanes; every lane reads it, only the atomics change. */
#ifndef BB_WORKER_H
#define BB_WORKER_H

#include "conn.h"

#define BB_LISTENERS_MAX 64

struct bb__listener {
    struct bb__source source;
    int fd;
    uint8_t number;
    bool tcp;
};

struct bb_worker {
    struct bb_settings settings;
    struct bb__listener listeners[BB_LISTENERS_MAX];
    int listener_count;
    struct bb__spool_budget spool_budget;

    atomic_bool draining;
    struct bb__source drain_source;
    int drain_fd; /* an eventfd that every lane watches; readable from the order to drain on */

    atomic_int lanes_listening;       /* when the worker drains, the last lane that stops closes them */
    atomic_uint_fast64_t connections; /* of all lanes, for max_connections */
    unsigned process_generation;
};

/* True in a child that was forked after the worker was made: descriptors and epoll sets are the parent's,
 * hands off. */
bool bb__worker_is_inert(const struct bb_worker *worker);

/* A lane has taken the listeners into its set, or out of it for good. */
void bb__worker_lane_listens(struct bb_worker *worker);
void bb__worker_lane_stops(struct bb_worker *worker);

#endif
