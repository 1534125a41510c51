/* report.h: prints a result in one of three forms: as text, as JSON, or as a row of a table. It also prints
 * the requests of a dry run. */
#ifndef REPORT_H
#define REPORT_H

#include "run.h"

#include <stdio.h>

void report_text(FILE *out, const struct options *options, const char *url, const struct result *result);

/* Prints one line. Latencies are null if no request was ok. */
void report_json(FILE *out, const struct result *result);

/* The heading, then one line for each result. `url_width` is the length of the longest URL. The line of a
 * failed URL has the reason instead of a result. */
void report_table_head(FILE *out, int url_width);
void report_table_row(FILE *out, int url_width, const char *url, const struct result *result);
void report_table_failure(FILE *out, int url_width, const char *url, const char *reason);

/* Prints the requests that a run with --rate would send, one line for each: microseconds from the start, a
 * tab, the path. */
void report_plan(FILE *out, const struct options *options, const struct target *target);

#endif
