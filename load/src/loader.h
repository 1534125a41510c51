/* loader.h: one thread's share of a run: its connections, poller, deadlines and counters. */
#ifndef LOADER_H
#define LOADER_H

#include "conn.h"
#include "report/histogram.h"
#include "report/statuses.h"
#include "schedule.h"

#include <pthread.h>

struct loader {
    struct schedule schedule;
    struct conn_setup setup;
    const struct request *requests; /* the index is schedule.which */
    struct conn *conns;
    unsigned conn_count;
    char *carries; /* RESPONSE_LINE_MAX bytes for each connection; the kernel allocates a page only when a
                      line arrives in parts */
    uint64_t timeout_ns;
    int poller;
    int timer; /* for the next due time, because the poller's own timeout can be 1 ms late */
    int stop;  /* the run's eventfd; readable when all loaders must stop at once */
    int done;  /* the run's eventfd; this loader writes to it when it has ended */
    pthread_t thread;
    bool is_stopped;

    struct link idle;      /* connections without a request, open or closed; the longest idle is first */
    struct link in_flight; /* connections with a request; the earliest deadline is first */
    struct link knocking;  /* connections in flight for which the server's accept queue has no room */
    uint64_t now_ns;       /* the last reading of the clock */
    uint64_t timer_ns;     /* the time to which the timer is set */

    /* the counters; the run reads the first two while this thread runs */
    _Atomic uint64_t fates[FATE_COUNT];
    _Atomic uint64_t slowest_ns; /* latency of the slowest ok request since the run has set this to 0 */
    int first_error[FATE_COUNT]; /* errno, 0: none */
    uint64_t abandoned;          /* requests in flight when the run was stopped; they have no fate */
    uint64_t last_ok_ns;         /* end of the last ok request, 0: none */
    struct histogram latency;    /* of the ok requests */
    struct statuses statuses;    /* of the complete responses */
};

struct loader_config {
    const struct target *target;
    const struct request *requests;
    unsigned connections;
    uint64_t timeout_ns;
    int stop, done; /* as in struct loader */
};

/* Returns a loader that is ready to start, or NULL with errno. Free it with loader_free(). */
struct loader *loader_new(const struct loader_config *config);
void loader_free(struct loader *loader);

/* The function of the thread. It sends the requests of its schedule. `loader` is a struct loader with its
 * schedule set. */
void *loader_main(void *loader);

#endif
