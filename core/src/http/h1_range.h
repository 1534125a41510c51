/* h1_range.h: the parts of a file that a request asks for: Range (RFC 9110 14.2) and If-Range (13.1.5). Used
 * by h1_reply_file.c. Does not make responses. */
#ifndef BB_H1_RANGE_H
#define BB_H1_RANGE_H

#include "bontebok.h"

/* Maximum number of ranges in a Range field. Each range costs a head of about 100 bytes, so a request with
 * many tiny ranges could cost more than the whole file. */
#define BB_RANGES_MAX 16

struct bb__range {
    uint64_t first, len; /* bytes; len is not 0 */
};

enum bb__range_verdict {
    BB_RANGE_WHOLE,         /* send the whole file */
    BB_RANGE_PARTS,         /* send the ranges, at least one */
    BB_RANGE_UNSATISFIABLE, /* answer with 416 (RFC 9110 15.5.17) */
};

/* Parses the value of a Range field for a file of `size` bytes. ranges: the satisfiable ranges, in the
 * request's order. BB_RANGE_WHOLE: the file is empty, the unit is not "bytes", the value is malformed or has
 * more than BB_RANGES_MAX ranges, or the ranges together are longer than the file. */
enum bb__range_verdict bb__range_parse(struct bb_slice value, uint64_t size,
                                       struct bb__range ranges[BB_RANGES_MAX], unsigned *count);

/* Returns whether the condition of an If-Range field holds. etag, last_modified: the values of the response's
 * fields; `at` is NULL if the field is missing. An entity tag must be strong on both sides. A date must equal
 * Last-Modified byte for byte. */
bool bb__range_condition_holds(struct bb_slice if_range, struct bb_slice etag, struct bb_slice last_modified);

#endif
