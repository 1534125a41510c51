/* sample.h: counts the queue time and the service time of a lane's requests. Two reads of the exact clock for
 * each request would cost a fast application 1 %. So a lane measures the first 16 requests of each tick of
 * the coarse clock, and then one in 4. A measured request also counts for the unmeasured ones before it.
 * Below 16 requests in a tick nothing is estimated.
 *
 * An unmeasured request that spans two ticks of the coarse clock has a time of its own: since the last read
 * of the exact clock, which is as old as a few short requests of the same tick. So a measured request that
 * spans two ticks counts only for itself. If one tick were enough, most of these times would be much too
 * long.
 *
 * Used by lanes. bench/times compares the result with exact times. */
#ifndef BB_SAMPLE_H
#define BB_SAMPLE_H

#include "base/clock.h"
#include "metrics/metrics.h"

#ifndef BB_SAMPLE_FIRST /* bench/price sets it */
#define BB_SAMPLE_FIRST 16
#endif
#define BB_SAMPLE_EVERY 4 /* a power of 2 */

/* A kind of time. */
struct bb__sampled {
    atomic_uint_fast64_t *last; /* the cell of the last measured time; NULL: there was none */
    unsigned unmeasured;        /* requests that no measured request counts for yet */
};

struct bb__sample {
    struct bb__counts counts;
    uint64_t tick;      /* ms, the coarse time of the last request */
    uint64_t began;     /* us, when the host got the current request; 0: the request is not measured */
    uint64_t queued;    /* us, queue time of the current request; 0 also if it is unknown */
    uint64_t two_ticks; /* ms */
    uint64_t read_at;   /* us, when the exact clock was last read for a request */
    unsigned requests;  /* in this tick */
    struct bb__sampled queue, service;
    bool has_waited; /* the queue time is known without a measurement */
};

/* Prepares a sample for a lane that counts in counts->own, or in the common block. */
void bb__sample_init(struct bb__sample *sample, const struct bb__counts *counts);

/* Lets the last measured times count for the unmeasured requests after them. */
void bb__sample_settle(struct bb__sample *sample);

/* Call this when the host gets a request. now: ms. ready_at: us, when the request began to wait; 0: it has
 * not waited. queued: us; 0: unknown, less than a tick. */
static inline void bb__sample_begin(struct bb__sample *sample, uint64_t now, uint64_t ready_at,
                                    uint64_t queued)
{
    if (sample->tick != now) {
        if (sample->requests > BB_SAMPLE_FIRST) bb__sample_settle(sample);
        sample->tick = now;
        sample->requests = 0;
    }
    unsigned number = sample->requests++;
    sample->has_waited = queued > 0;
    sample->queued = queued;
    sample->began = 0;
    if (sample->has_waited) sample->read_at = ready_at + queued;
    if (number >= BB_SAMPLE_FIRST && number % BB_SAMPLE_EVERY != 0) return;
    sample->began = sample->read_at = bb__clock_us();
    if (queued == 0 && ready_at > 0) sample->queued = bb__elapsed(sample->began, ready_at);
}

/* Call this when the host has ended the request. The lane must have metrics. now, handed_out: ms. */
void bb__sample_end(struct bb__sample *sample, uint64_t now, uint64_t handed_out);

#endif
