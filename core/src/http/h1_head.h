/* h1_head.h: the request head parser (RFC 9112 2 to 5, 9110 7). Bytes in, a view of them out: it owns nothing
 * and keeps nothing but what it learns in `names`. Strict: in doubt it refuses. */
#ifndef BB_H1_HEAD_H
#define BB_H1_HEAD_H

#include "bontebok.h"
#include "http/h1_field_names.h"

struct bb__head_limits {
    size_t max_target;      /* 414 */
    size_t max_field_bytes; /* 431: of all field lines, CRLFs included; the empty line is not counted */
    unsigned max_fields;    /* 431: lines, handed out or not; how many `fields` has room for */
    bool allow_underscores;
};

/* Parses buf[0..len). `names` may be NULL.
 * Returns BB_OK: *head is filled, *head_len bytes belong to it (a skipped CRLF and the empty line included).
 * BB_AGAIN: no mistake so far, but it is not whole.
 * 400..599: the status to answer, as soon as it is certain; head->method is set if it was read.
 * Repeated parsing of a growing buffer gives the same result as parsing it once. */
int bb__head_parse(const char *buf, size_t len, const struct bb__head_limits *limits,
                   struct bb__field_names *names, struct bb_field *fields, struct bb_head *head,
                   size_t *head_len);

/* Says whether a head that was BB_AGAIN before is worth parsing again. *seen: bytes already looked at, starts
 * with the length at the first parse, is moved on. True when an empty line, or a line end that is not CRLF,
 * has come since, so that a head which drips in costs O(n), not O(n^2). */
bool bb__head_ended(const char *buf, size_t len, size_t *seen);

#endif
