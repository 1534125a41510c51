/* histogram.h: a histogram of latencies in nanoseconds. The width of a bucket is at most 1/128 of its
 * values, so a percentile is within 0.4 % of the true value. Each loader fills its own histogram, and the
 * run merges them. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEPS   128 /* buckets for each power of two */
#define HISTOGRAM_MAX_BIT 42  /* values above 2^43 ns, 2.4 hours, count as 2^43 ns */
#define HISTOGRAM_BUCKETS ((HISTOGRAM_MAX_BIT - 7 + 2) * HISTOGRAM_STEPS)

struct histogram {
    uint64_t count;
    uint64_t max; /* exact */
    uint64_t sum;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_record(struct histogram *histogram, uint64_t ns);

/* Adds all of `from` to `into`. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/* The exact mean; 0 if the histogram is empty. */
double histogram_mean(const struct histogram *histogram);

/* The smallest value v for which at least `fraction` (0 < fraction <= 1) of all values are v or less; 0 if
 * the histogram is empty. */
uint64_t histogram_percentile(const struct histogram *histogram, double fraction);

#endif
