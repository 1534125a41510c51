/* totals.h: the totals of a test's metrics as text. */
#ifndef BB_TEST_TOTALS_H
#define BB_TEST_TOTALS_H

#include <stdio.h>

#include "bontebok.h"

#ifdef BB_PORTABLE
#define THREADS_HAVE_NUMBERS 0
#else
#define THREADS_HAVE_NUMBERS 1 /* gettid(2) */
#endif

static struct bb_metrics *metrics;

/* Returns the totals that are not 0 as "name number name number", in a static buffer. */
static inline const char *totals(void)
{
    static char text[600];
    static struct bb_metrics_sum sum;
    size_t len = 0;
    text[0] = '\0';
    bb_metrics_sum(metrics, &sum);
    for (int i = 0; i < BB_COUNTERS_END; i++)
        if (sum.counters[i] > 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %llu", len > 0 ? " " : "",
                                    bb_counter_names[i], (unsigned long long)sum.counters[i]);
    return text;
}

#define assert_totals(expected) assert_string_equal(totals(), expected)

/* The same for the totals of bb_metrics_count(). */
static inline const char *names(void)
{
    static char text[4000];
    struct bb_metrics_name name;
    size_t len = 0;
    int code;
    text[0] = '\0';
    for (unsigned i = 0; (code = bb_metrics_name(metrics, i, &name)) != BB_EOF; i++)
        if (code == BB_OK)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %llu", len > 0 ? ", " : "",
                                    name.name, (unsigned long long)name.count);
    return text;
}

/* Returns how many times both histograms have; if they differ, the test fails. */
static inline uint64_t times(void)
{
    static struct bb_metrics_sum sum;
    uint64_t queued = 0, served = 0;
    bb_metrics_sum(metrics, &sum);
    for (int i = 0; i < BB_METRICS_TIMES; i++) {
        queued += sum.queue_time[i];
        served += sum.service_time[i];
    }
    assert_int_equal(queued, served);
    return served;
}

#endif
