/* schedule.h: when the requests of a run are due. A run has one plan, and each of its threads has one
 * schedule. A thread draws (takes) its next request with schedule_draw().
 *
 * Closed loop: a request is due when a connection is free. All threads take their request numbers from one
 * counter, so that no thread has requests left when the other threads have none. Open loop (--rate): due
 * times are fixed before the run, and thread k of n has the requests k, k + n, k + 2n and so on. Random
 * values (--poisson, --also) depend only on the seed and a request's number, and not on the number of
 * threads.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "options.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct plan {
    uint64_t start_ns;
    uint64_t end_ns; /* no request is due at or after this time; UINT64_MAX: no end */
    double rate;     /* 0: closed loop */
    bool is_poisson; /* due times are random, not evenly spaced */
    uint64_t seed;
    const struct also *also; /* the paths of --also or --paths */
    size_t also_count;
    bool is_rotating; /* the paths take turns; else each has its share */
    unsigned threads;
    uint64_t requests;       /* number of requests; UINT64_MAX: no limit */
    _Atomic uint64_t drawn;  /* closed loop: requests that all threads have drawn */
    uint64_t until_errors;   /* the run stops after this many failed requests; UINT64_MAX: no limit */
    _Atomic uint64_t errors; /* failed requests of all threads */
};

struct schedule {
    struct plan *plan;
    unsigned thread;
    bool is_over;
    uint64_t index;   /* open loop: requests that this thread has drawn */
    uint64_t due_ns;  /* open loop: when the next request is due */
    double offset_ns; /* is_poisson: due_ns - start_ns, unrounded */
    uint64_t gaps;    /* is_poisson: offset_ns is the sum of this many random gaps */

    /* about the last request that was drawn */
    uint64_t last_ns; /* its due time */
    size_t which;     /* 0: the request for the URL; i + 1: the request for also[i] */
};

enum schedule_news { SCHEDULE_DUE, SCHEDULE_LATER, SCHEDULE_OVER };

/* Makes a plan that begins at start_ns. The plan borrows strings and arrays of the options. */
void plan_init(struct plan *plan, const struct options *options, uint64_t start_ns);

void schedule_init(struct schedule *schedule, struct plan *plan, unsigned thread);

/* Draws the next request if it is due at `now_ns`. SCHEDULE_DUE: *due_ns is the due time of the drawn
 * request. SCHEDULE_LATER: no request is due yet, and *due_ns is the due time of the next request.
 * SCHEDULE_OVER: there are no more requests. */
enum schedule_news schedule_draw(struct schedule *schedule, uint64_t now_ns, uint64_t *due_ns);

#endif
