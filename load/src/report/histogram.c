/* histogram.c: log-linear buckets.
 *
 *   value        0..255     256..511   512..1023   ...   the highest bit decides the width,
 *   bucket       0..255     256..383   384..511    ...   the next 7 bits decide the bucket
 *   width        1          2          4           ...
 */
#include "report/histogram.h"

#include <math.h>

static unsigned bucket_of(uint64_t ns)
{
    if (ns >= 2 * HISTOGRAM_STEPS) {
        int high_bit = 63 - __builtin_clzll(ns);
        if (high_bit > HISTOGRAM_MAX_BIT) return HISTOGRAM_BUCKETS - 1;
        int shift = high_bit - 7;
        return (unsigned)shift * HISTOGRAM_STEPS + (unsigned)(ns >> shift);
    }
    return (unsigned)ns;
}

static uint64_t middle_of(unsigned bucket)
{
    if (bucket < 2 * HISTOGRAM_STEPS) return bucket;
    unsigned shift = bucket / HISTOGRAM_STEPS - 1;
    uint64_t lowest = (uint64_t)(bucket - shift * HISTOGRAM_STEPS) << shift;
    return lowest + (1ULL << shift) / 2;
}

void histogram_record(struct histogram *histogram, uint64_t ns)
{
    histogram->count++;
    histogram->sum += ns;
    histogram->buckets[bucket_of(ns)]++;
    if (ns > histogram->max) histogram->max = ns;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) into->buckets[i] += from->buckets[i];
    into->count += from->count;
    into->sum += from->sum;
    if (from->max > into->max) into->max = from->max;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->count > 0 ? (double)histogram->sum / (double)histogram->count : 0;
}

uint64_t histogram_percentile(const struct histogram *histogram, double fraction)
{
    uint64_t rank = (uint64_t)ceil(fraction * (double)histogram->count);
    if (rank >= histogram->count) return histogram->max;

    unsigned bucket = 0;
    uint64_t passed = histogram->buckets[0];
    while (passed < rank) passed += histogram->buckets[++bucket];
    uint64_t middle = middle_of(bucket);
    return middle < histogram->max ? middle : histogram->max;
}
