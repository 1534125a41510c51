/* h1_body.h: the body decoder (RFC 9112 6 and 7) for Content-Length and chunked. Used for request bodies, and
 * for responses that the application has chunked itself. It copies nothing: each call returns one run of body
 * bytes (a slice of the input). */
#ifndef BB_H1_BODY_H
#define BB_H1_BODY_H

#include "base/reason.h"
#include "bontebok.h"

#define BB_CHUNK_EXTENSION_MAX  1024        /* per chunk */
#define BB_CHUNK_EXTENSIONS_MAX (16 * 1024) /* per body */

struct bb__body {
    uint64_t remaining;  /* bytes of the body, or of the current chunk, that have not come yet */
    uint64_t announced;  /* sum of the chunk sizes so far; max_body limits it before the bytes come */
    uint32_t extensions; /* bytes of chunk extensions so far */
    uint32_t extension;  /* bytes of extensions in this chunk */
    uint32_t trailer_bytes, trailer_bytes_max; /* bytes of trailer lines, CRLFs included */
    uint32_t trailers, trailers_max;           /* number of trailer lines */
    uint8_t state;                             /* enum state */
    uint8_t reason; /* enum bb__reason: why the body is rejected; 0: it is not rejected */
    uint8_t digits; /* digits of the current chunk size */
};

void bb__body_start_length(struct bb__body *body, uint64_t length);
void bb__body_start_chunked(struct bb__body *body, uint32_t trailer_bytes_max, uint32_t trailers_max);

/* Decodes in[0..len). *used: bytes of the input that were decoded. *out: one run of body bytes inside the
 * input. *out is empty (at is NULL) if the input has no more body bytes.
 *
 * Returns BB_OK: the body is complete; bytes from *used on are not part of the body. BB_AGAIN: if *used <
 * len, call again with the rest, else with more input. A reason (enum bb__reason): in[*used] is the byte that
 * is rejected, and every later call returns the same reason. The decoded bytes and the result do not depend
 * on how the input is divided among calls. */
int bb__body_decode(struct bb__body *body, const char *in, size_t len, size_t *used, struct bb_slice *out);

/* Decodes all bytes of the body that in[0..len) has. *used: bytes of the input that were decoded. *out: the
 * body bytes, which are moved together inside the input. max: bytes; 0: no limit. Returns as
 * bb__body_decode(), or BB_REASON_LARGE_BODY: the sizes of the chunks announce more than `max` bytes. */
int bb__body_decode_all(struct bb__body *body, uint64_t max, char *in, size_t len, size_t *used,
                        struct bb_slice *out);

bool bb__body_done(const struct bb__body *body);

/* Returns how many bytes of a chunked body were decoded. */
uint64_t bb__body_decoded(const struct bb__body *body);

#endif
