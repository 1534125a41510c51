/* h1_body.h: the body decoder (RFC 9112 6 and 7): Content-Length and chunked. Used for request bodies, and
 * for responses that the application has chunked itself. It copies nothing: each call points at one run of
 * body bytes inside the input. */
#ifndef BB_H1_BODY_H
#define BB_H1_BODY_H

#include "bontebok.h"

#define BB_CHUNK_EXTENSION_MAX  1024        /* a chunk */
#define BB_CHUNK_EXTENSIONS_MAX (16 * 1024) /* a body */

struct bb__body {
    uint64_t remaining;  /* of the length, or of the current chunk */
    uint64_t announced;  /* chunk sizes so far, summed: what max_body is held against before the bytes come */
    uint32_t extensions; /* bytes of chunk extensions so far */
    uint32_t extension;  /* of this chunk */
    uint32_t trailer_bytes, trailer_bytes_max; /* of the field lines, their CRLFs included; 431 */
    uint32_t trailers, trailers_max;           /* field lines; 431 */
    uint8_t state;                             /* h1_body.c draws it */
    uint8_t digits;                            /* of the current chunk size */
};

void bb__body_start_length(struct bb__body *body, uint64_t length);
void bb__body_start_chunked(struct bb__body *body, uint32_t trailer_bytes_max, uint32_t trailers_max);

/* Decodes in[0..len). *used: how much of the input was taken. *out: one run of body bytes within it; or empty
 * (at is NULL then), but only when all of the input was framing, or the body is over. Returns BB_OK: the body
 * is complete, bytes from *used on are not its own. BB_AGAIN: if *used < len call again with the rest, else
 * with more input. 400 or 431: the status to answer; in[*used] is the byte that was refused, and every later
 * call gives the same status. The bytes and the result do not depend on how the input was cut into calls. */
int bb__body_decode(struct bb__body *body, const char *in, size_t len, size_t *used, struct bb_slice *out);

bool bb__body_done(const struct bb__body *body);

/* How many bytes of a chunked body were decoded. */
uint64_t bb__body_decoded(const struct bb__body *body);

#endif
