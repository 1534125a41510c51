/* run.h: one run against one URL: its threads, its progress line, its end by a signal, and the sum of what
 * they found. */
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
    uint64_t resent;             /* sent a second time: the kept connection's end crossed with them */
    uint64_t abandoned;          /* in flight when a signal ended the run; in no other number */
    bool is_interrupted;
    double seconds; /* that the run took, but for waiting for its last requests when they failed */
    double cpu_us;  /* what this process used */
    struct histogram latency;
};

/* Carries out the run with that of the URL and those of --also. SIGINT or SIGTERM ends it early, with what
 * there is so far; before and after it they do what they did. Returns 0 or an errno: of what it could not set
 * up. */
int run(const struct options *options, const struct target *target, const struct request *requests,
        struct result *result);

#endif
