/* loader.h: one thread's share of a run: its connections, its poller, its deadlines, and what it counts. */
#ifndef LOADER_H
#define LOADER_H

#include "conn.h"
#include "report/histogram.h"
#include "schedule.h"

#include <pthread.h>

struct loader {
    struct schedule schedule;
    struct conn_setup setup;
    const struct request *requests; /* as the schedule numbers them */
    struct conn *conns;
    unsigned conn_count;
    char *carries; /* RESPONSE_LINE_MAX bytes each; a page of it is real only once a line came in parts */
    uint64_t timeout_ns;
    int poller;
    int timer; /* for the next due time: the poller's own timeout is too coarse by a millisecond */
    int done;  /* the run's eventfd, written to when this loader has nothing left to do */
    pthread_t thread;
    bool is_stopped;

    struct link idle;      /* open or not, no request under way; the one that rests longest is first */
    struct link in_flight; /* a request under way; the earliest deadline is first */
    struct link knocking;  /* of these, the ones that the server's accept queue has no room for */
    uint64_t now_ns;       /* as it was last read */
    uint64_t timer_ns;     /* what the timer is set to */

    /* what is counted; the fates are read by the run's progress line while they grow */
    _Atomic uint64_t fates[FATE_COUNT];
    int first_error[FATE_COUNT]; /* errno, 0: none */
    uint64_t abandoned;          /* were in flight when the run was stopped: in none of the fates */
    uint64_t last_ok_ns;         /* when the last of them ended, 0: none */
    struct histogram latency;    /* of the requests that were ok */
};

struct loader_config {
    const struct target *target;
    const struct request *requests;
    unsigned connections;
    uint64_t timeout_ns;
    int stop; /* eventfd, readable when all is to stop at once */
    int done;
};

/* Returns a loader that is ready to start, freed with loader_free(), or NULL with errno. */
struct loader *loader_new(const struct loader_config *config);
void loader_free(struct loader *loader);

/* The thread: carries out its part of the plan. `loader` is a struct loader whose schedule is set. */
void *loader_main(void *loader);

#endif
