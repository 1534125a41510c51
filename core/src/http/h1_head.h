/* h1_head.h: the request head parser (RFC 9112 2 to 5, RFC 9110 7). The input is bytes, the output is
 * pointers into them. The parser keeps nothing except the names that it learns in `names`. It rejects every
 * head that is not clearly valid. Used by conn.c. */
#ifndef BB_H1_HEAD_H
#define BB_H1_HEAD_H

#include "base/reason.h"
#include "bontebok.h"
#include "http/h1_field_names.h"

struct bb__head_limits {
    size_t max_target;      /* 414 */
    size_t max_field_bytes; /* 431; for all field lines, CRLFs included; the empty line is not counted */
    unsigned max_fields;    /* 431; counts dropped fields, too; also the size of the array `fields` */
    bool allow_underscores;
};

/* Parses buf[0..len). `names` may be NULL.
 * Returns BB_OK: *head is filled; *head_len is the length of the head, with a skipped CRLF and the empty
 * line.
 * BB_AGAIN: no mistake so far, but the head is incomplete.
 * Or a reason (enum bb__reason) to reject the request, returned as soon as it is certain. head->method is
 * set if it was read. Repeated parsing of a growing buffer gives the same result as one parse of the whole
 * buffer. One exception: the reason BAD_METHOD may come before the bytes that show PROXY_PROTOCOL. */
int bb__head_parse(const char *buf, size_t len, const struct bb__head_limits *limits,
                   struct bb__field_names *names, struct bb_field *fields, struct bb_head *head,
                   size_t *head_len);

/* Call this after BB_AGAIN, when more bytes have come. True: parse the head again, because an empty line, or
 * a line end other than CRLF, has come. *seen: bytes that were searched. The caller sets *seen to the length
 * at the first parse; this function updates it. With this call a head in small pieces costs O(n), not
 * O(n^2). */
bool bb__head_ended(const char *buf, size_t len, size_t *seen);

#endif
