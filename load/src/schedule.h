/* schedule.h: when the requests of a run are due. One plan for the run, one schedule for each thread of it.
 *
 * Closed loop: a request is due whenever a connection is free; the threads draw from one common count, so
 * that a slow one does not keep the others waiting at the end. Open loop (--rate): due times are fixed before
 * anything is known of the server, and thread k has every k-th of them. What is left to chance (--poisson,
 * --also) is decided by the seed and a request's number, whatever the number of threads. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include "options.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct plan {
    uint64_t start_ns;
    uint64_t end_ns; /* nothing is due from here on; UINT64_MAX: no such time */
    double rate;     /* 0: closed loop */
    bool is_poisson; /* at random times instead of evenly spaced ones */
    uint64_t seed;
    const struct also *also; /* requests other than the first, and how often each of them comes */
    size_t also_count;
    unsigned threads;
    uint64_t requests;      /* UINT64_MAX: no such limit */
    _Atomic uint64_t drawn; /* of them, in a closed loop */
};

struct schedule {
    struct plan *plan;
    unsigned thread;
    bool is_over;
    uint64_t index;   /* open loop: how many were drawn */
    uint64_t due_ns;  /* open loop: of the next one */
    double offset_ns; /* is_poisson: due_ns - start_ns, unrounded */
    uint64_t gaps;    /* is_poisson: how many of them offset_ns is the sum of */

    /* of the last one that was drawn */
    uint64_t last_ns; /* when it was due */
    size_t which;     /* 0: the first request, n: the n-th of also */
};

enum schedule_news { SCHEDULE_DUE, SCHEDULE_LATER, SCHEDULE_OVER };

/* A plan for the options, which stay where they are, that begins at start_ns. */
void plan_init(struct plan *plan, const struct options *options, uint64_t start_ns);

void schedule_init(struct schedule *schedule, struct plan *plan, unsigned thread);

/* Draws a request that is due at `now`. SCHEDULE_DUE: *due_ns is since when. SCHEDULE_LATER: *due_ns is from
 * when on. SCHEDULE_OVER: there are no more, now or ever. */
enum schedule_news schedule_draw(struct schedule *schedule, uint64_t now_ns, uint64_t *due_ns);

#endif
