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

/* Counts a time for this request and for the unmeasured requests that it stands for. */
static void count(atomic_uint_fast64_t *times, uint64_t time, unsigned *unmeasured)
{
    bb__metrics_add(&times[bb__metrics_place(time)], 1 + *unmeasured);
    *unmeasured = 0;
}

static void count_one(atomic_uint_fast64_t *times, uint64_t time)
{
    bb__metrics_add(&times[bb__metrics_place(time)], 1);
}

void bb__sample_end(struct bb__sample *sample, uint64_t now, uint64_t handed_out)
{
    struct bb__metrics_block *own = sample->counts.own;
    uint64_t coarse = bb__elapsed(now, handed_out);
    bool is_long = coarse >= sample->two_ticks;
    if (sample->began == 0 && !sample->has_waited && !is_long) {
        sample->unmeasured_queued++;
        sample->unmeasured++;
        return;
    }
    uint64_t time = sample->began > 0 ? bb__elapsed(bb__clock_us(), sample->began) : coarse * 1000;
    if (!own) {
        bb__count_times(&sample->counts, sample->queued, time);
        return;
    }
    if (sample->has_waited)
        count_one(own->queue_time, sample->queued);
    else if (sample->began > 0)
        count(own->queue_time, sample->queued, &sample->unmeasured_queued);
    else
        sample->unmeasured_queued++;

    if (is_long)
        count_one(own->service_time, time);
    else if (sample->began > 0)
        count(own->service_time, time, &sample->unmeasured);
    else
        sample->unmeasured++;
}
