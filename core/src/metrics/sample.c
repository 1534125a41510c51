/* sample.c: see sample.h. */
#include "metrics/sample.h"

#include <time.h>

/* ms, rounded up. */
static uint64_t tick_of_clock(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0) return ((uint64_t)tick.tv_nsec + 999999) / 1000000;
#endif
    return 1;
}

void bb__sample_init(struct bb__sample *sample, const struct bb__counts *counts)
{
    *sample = (struct bb__sample){.counts = *counts, .two_ticks = 2 * tick_of_clock()};
}

/* Counts a time for this request and for the unmeasured requests before it. */
static void count(struct bb__sampled *sampled, atomic_uint_fast64_t *cell)
{
    bb__metrics_add(cell, 1 + sampled->unmeasured);
    *sampled = (struct bb__sampled){cell, 0};
}

static void settle(struct bb__sampled *sampled)
{
    if (!sampled->last || sampled->unmeasured == 0) return;
    bb__metrics_add(sampled->last, sampled->unmeasured);
    sampled->unmeasured = 0;
}

void bb__sample_settle(struct bb__sample *sample)
{
    settle(&sample->queue);
    settle(&sample->service);
}

void bb__sample_end(struct bb__sample *sample, uint64_t now, uint64_t handed_out)
{
    struct bb__metrics_block *own = sample->counts.own;
    uint64_t coarse = bb__elapsed(now, handed_out);
    bool is_long = coarse >= sample->two_ticks;
    if (sample->began == 0 && !sample->has_waited && !is_long) {
        sample->queue.unmeasured++;
        sample->service.unmeasured++;
        return;
    }
    uint64_t time = sample->began > 0 ? bb__elapsed(bb__clock_us(), sample->began) : coarse * 1000;
    if (!own) {
        bb__count_times(&sample->counts, sample->queued, time);
        return;
    }
    atomic_uint_fast64_t *queued = &own->queue_time[bb__metrics_place(sample->queued)];
    atomic_uint_fast64_t *served = &own->service_time[bb__metrics_place(time)];
    if (sample->has_waited)
        bb__metrics_add(queued, 1);
    else if (sample->began > 0)
        count(&sample->queue, queued);
    else
        sample->queue.unmeasured++;

    if (is_long)
        bb__metrics_add(served, 1);
    else if (sample->began > 0)
        count(&sample->service, served);
    else
        sample->service.unmeasured++;
}
