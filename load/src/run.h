/* run.h: one run against one URL. It starts the threads, shows the progress, ends at a signal, and adds up
 * the results of the threads. */
#ifndef RUN_H
#define RUN_H

#include "options.h"
#include "report/fate.h"
#include "report/histogram.h"
#include "request.h"
#include "target.h"

#include <stdbool.h>
#include <stdint.h>

struct result {
    uint64_t requests; /* the sum of all fates */
    uint64_t fates[FATE_COUNT];
    int first_error[FATE_COUNT]; /* errno, 0: none */
    uint64_t resent;             /* sent a second time: a kept-alive connection ended while they were sent */
    uint64_t abandoned;          /* in flight when a signal ended the run; counted nowhere else */
    bool is_interrupted;
    double seconds; /* duration of the run, without the wait for last requests that failed */
    double cpu_us;  /* used by this process */
    struct histogram latency;
};

/* Carries out the run with the request for the URL and those of --also. SIGINT or SIGTERM ends the run early,
 * with the results so far. Before and after the run these signals have their former effect. Returns 0, or the
 * errno of a failed setup. */
int run(const struct options *options, const struct target *target, const struct request *requests,
        struct result *result);

#endif
