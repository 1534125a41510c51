/* sample.c: see sample.h. */
#include "metrics/sample.h"

#include <time.h>

/* ms, rounded up. */
static uint64_t tick_of_clock(void)
{
#ifndef BB_PORTABLE
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0) return ((uint64_t)tick.tv_nsec + 999999) / 1000000;
#endif
    return 1;
}

void bb__sample_init(struct bb__sample *sample, const struct bb__counts *counts)
{
    *sample = (struct bb__sample){.counts = *counts, .two_ticks = 2 * tick_of_clock()};
}

static void add(const struct bb__sample *sample, atomic_uint_fast64_t *cell, unsigned number)
{
    if (sample->counts.own)
        bb__metrics_add(cell, number);
    else
        atomic_fetch_add_explicit(cell, number, memory_order_relaxed);
}

/* Counts a time for this request and for the unmeasured requests before it. */
static void count(const struct bb__sample *sample, struct bb__sampled *sampled, atomic_uint_fast64_t *cell)
{
    add(sample, cell, 1 + sampled->unmeasured);
    *sampled = (struct bb__sampled){cell, 0};
}

static void settle(const struct bb__sample *sample, struct bb__sampled *sampled)
{
    if (!sampled->last || sampled->unmeasured == 0) return;
    add(sample, sampled->last, sampled->unmeasured);
    sampled->unmeasured = 0;
}

void bb__sample_settle(struct bb__sample *sample)
{
    settle(sample, &sample->queue);
    settle(sample, &sample->service);
}

void bb__sample_end(struct bb__sample *sample, uint64_t now, uint64_t handed_out)
{
    uint64_t coarse = bb__elapsed(now, handed_out);
    bool is_measured = sample->began > 0, is_long = coarse >= sample->two_ticks;
    if (!is_measured && !sample->has_waited && !is_long) {
        sample->queue.unmeasured++;
        sample->service.unmeasured++;
        return;
    }
    struct bb__metrics_block *block =
        sample->counts.own ? sample->counts.own : &sample->counts.metrics->memory->common;
    uint64_t began = is_measured ? sample->began : sample->read_at, time = 0;
    if (is_measured || is_long) {
        sample->read_at = bb__clock_us();
        time = bb__elapsed(sample->read_at, began);
    }
    atomic_uint_fast64_t *queued = &block->queue_time[bb__metrics_place(sample->queued)];
    atomic_uint_fast64_t *served = &block->service_time[bb__metrics_place(time)];
    if (sample->has_waited)
        add(sample, queued, 1);
    else if (is_measured)
        count(sample, &sample->queue, queued);
    else
        sample->queue.unmeasured++;

    if (is_long)
        add(sample, served, 1);
    else if (is_measured)
        count(sample, &sample->service, served);
    else
        sample->service.unmeasured++;
}
