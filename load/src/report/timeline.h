/* timeline.h: the lines of --timeline, one for each second of a run, printed while the run lasts. As text, or
 * with --json each as one JSON object. */
#ifndef TIMELINE_H
#define TIMELINE_H

#include "report/fate.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct timeline {
    FILE *out;
    bool is_json;
    uint64_t start_ns;
    uint64_t line_ns;           /* the end of the last line's time */
    uint64_t fates[FATE_COUNT]; /* of all lines */
};

/* Begins the timeline of a run that starts at start_ns. The text form has a heading. */
void timeline_start(struct timeline *timeline, FILE *out, bool is_json, uint64_t start_ns);

/* When the next line is due: at the next whole second of the run. */
uint64_t timeline_due_ns(const struct timeline *timeline);

/* Prints the line for the time since the last line, and flushes it. `fates`: the counts since the start.
 * `slowest_ns`: the latency of the slowest ok request since the last line, 0: none. */
void timeline_print(struct timeline *timeline, uint64_t now_ns, const uint64_t fates[FATE_COUNT],
                    uint64_t slowest_ns);

#endif
