/* statuses.h: how many complete responses had which status code (RFC 9110 15). Loaders count, the report
 * prints. */
#ifndef STATUSES_H
#define STATUSES_H

#include <stdint.h>
#include <stdio.h>

#define STATUS_MIN   100
#define STATUS_COUNT 900 /* up to 999 */

struct statuses {
    uint64_t counts[STATUS_COUNT]; /* the index is the status code minus STATUS_MIN */
};

/* A code outside of 100 to 999 is not counted. */
void statuses_count(struct statuses *statuses, int code);
void statuses_add(struct statuses *sum, const struct statuses *more);

/* Prints "200: 12, 503: 7", or nothing if there was no response. */
void statuses_print(FILE *out, const struct statuses *statuses);

/* Prints a JSON object. */
void statuses_print_json(FILE *out, const struct statuses *statuses);

#endif
