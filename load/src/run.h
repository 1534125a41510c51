/* run.h: one run against one URL. It starts the threads, shows the progress or the timeline, ends at a
 * signal, at the limit of failed requests, or if nobody listens, and adds up the results of the threads. */
#ifndef RUN_H
#define RUN_H

#include "options.h"
#include "report/fate.h"
#include "report/histogram.h"
#include "report/statuses.h"
#include "request.h"
#include "target.h"

#include <stdbool.h>
#include <stdint.h>

struct result {
    uint64_t requests; /* the sum of all fates */
    uint64_t fates[FATE_COUNT];
    int first_error[FATE_COUNT]; /* errno, 0: none */
    uint64_t resent;             /* requests sent again, because a kept-alive connection had ended */
    uint64_t abandoned;          /* requests in flight when the run was ended early; not in `requests` */
    bool is_interrupted;         /* a signal ended the run */
    bool reached_errors;         /* --until-errors ended the run */
    bool nobody_listens; /* the run ended because the server refused each request of its first second */
    double seconds;      /* duration of the run, without the wait for last requests that failed */
    double cpu_us;       /* CPU time that this process used, in us */
    struct histogram latency;
    struct statuses statuses;
};

/* Runs the benchmark. `requests`: the request for the URL, then the requests of --also. SIGINT or SIGTERM
 * ends the run early, and `result` has the results so far. The effect of these signals is restored after
 * the run. Returns 0, or errno if the setup failed. */
int run(const struct options *options, const struct target *target, const struct request *requests,
        struct result *result);

#endif
