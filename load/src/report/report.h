/* report.h: the three forms of a result: for people, for programs, and several of them in a table; and what
 * would be sent. */
#ifndef REPORT_H
#define REPORT_H

#include "run.h"

#include <stdio.h>

void report_text(FILE *out, const struct options *options, const char *url, const struct result *result);

/* One line. Latencies are null when there was no answer that was ok. */
void report_json(FILE *out, const struct result *result);

/* The heading, then one line for each result; `url_width` is the length of the longest URL. A
 * failure is a line without a result. */
void report_table_head(FILE *out, int url_width);
void report_table_row(FILE *out, int url_width, const char *url, const struct result *result);
void report_table_failure(FILE *out, int url_width, const char *url, const char *reason);

/* What a run with --rate would send: a line for each request, microseconds from the start, a tab, the path.
 */
void report_plan(FILE *out, const struct options *options, const struct target *target);

#endif
