/* h1_reply.h: the reply encoder (RFC 9112 4 to 7). It turns status, fields and body parts into the bytes of
 * one response. Used by lane/reply.c, which sends the bytes. The encoder does not use sockets. The calls of a
 * reply are: start, field*, head, part*, end. A reply may be started again until its first bytes are sent. */
#ifndef BB_H1_REPLY_H
#define BB_H1_REPLY_H

#include "base/buf.h"
#include "base/clock.h"
#include "bontebok.h"
#include "http/h1_body.h"

enum bb__framing {
    BB_FRAMING_NONE,        /* no body: HEAD, 1xx except an upgrade, 204, 205, 304 */
    BB_FRAMING_LENGTH,      /* Content-Length */
    BB_FRAMING_CHUNKED,     /* the core chunks the body */
    BB_FRAMING_APP_CHUNKED, /* the application chunks the body: the bytes are passed on and checked */
    BB_FRAMING_APP_DECODED, /* the application chunks the body, but the client is HTTP/1.0: the chunks are
                               decoded, and the body ends with the connection */
    BB_FRAMING_CLOSE,       /* the body, or the protocol of an upgrade, ends with the connection */
};

struct bb__h1_reply {
    /* Inputs, from the request and the settings. The caller sets these four before each start. */
    bool head_method;      /* HEAD */
    uint8_t minor_version; /* of the request */
    bool chunked_transfer; /* the setting */
    bool keep_alive;       /* in: client and server want to keep the connection; out: the connection is kept.
                              head(), part() and end() may set this to false */
    /* Facts from the application's fields. */
    bool has_length, has_date, has_server, has_close, has_chunked, has_upgrade;
    int status;
    uint64_t content_length;
    /* About the body; valid after head(). */
    uint8_t framing;          /* enum bb__framing */
    uint64_t remaining;       /* bytes of content_length that have not come yet */
    struct bb__body app_body; /* checks the application's chunks (BB_FRAMING_APP_*) */
};

/* Starts a reply: resets everything except the four inputs, clears `out` and writes the status line to it.
 * Returns BB_OK, BB_ESTATUS, BB_ENOMEM. */
int bb__h1_reply_start(struct bb__h1_reply *reply, struct bb__buf *out, int status);

/* Adds one field; bb_reply_field() in bontebok.h has the contract. Content-Length and Transfer-Encoding are
 * only noted here; head() writes them. */
int bb__h1_reply_field(struct bb__h1_reply *reply, struct bb__buf *out, const char *name, size_t name_len,
                       const char *value, size_t value_len);

/* Ends the head; bb_reply_head() in bontebok.h has the contract. Chooses the framing. Appends Date, Server
 * (NUL-terminated, "" for none), Content-Length or Transfer-Encoding, and the empty line. If the connection
 * is not kept, appends "Connection: close". If the connection of an HTTP/1.0 client is kept, appends
 * "Connection: keep-alive". If there was an Upgrade field, appends the option "upgrade". Returns BB_OK or
 * BB_ENOMEM. */
int bb__h1_reply_head(struct bb__h1_reply *reply, struct bb__buf *out, uint64_t body_length,
                      struct bb__date *date, const char *server);

/* The length of the longest chunk head: 16 hex digits and CRLF. */
#define BB_CHUNK_HEAD_MAX 18

/* Maximum number of spans (bytes to send) of one part() call: chunk head, bytes, CRLF. */
#define BB_PART_SPANS 3

/* Frames the body part at[0..len), or its first bytes. The encoder counts framed bytes as sent, so the caller
 * must send or copy all spans completely.
 *
 * spans: the bytes to send, in this order. The first span may point to chunk_head, which must stay valid
 * until the spans are sent. The other spans point into the part or to static memory. Returns the number of
 * spans, 0..BB_PART_SPANS; no span is empty. *used: bytes of the part that are framed or dropped. *used is
 * less than len only if the application sends chunks: call again with the remaining bytes. 0, and len > 0:
 * they are no chunk, and the caller must fail with BB_ECHUNKS.
 *
 * An empty part gives no span, so it never ends a chunked body. Bytes past the end of the body (past
 * Content-Length, after the application's last chunk) are dropped, and keep_alive becomes false. If the
 * response has no body (BB_FRAMING_NONE), no part gives a span. */
unsigned bb__h1_reply_part(struct bb__h1_reply *reply, const char *at, size_t len,
                           char chunk_head[BB_CHUNK_HEAD_MAX], struct bb_slice spans[BB_PART_SPANS],
                           size_t *used);

/* Ends the body. *last: static bytes to send (the last chunk if the core chunks the body), or empty. Returns
 * BB_OK: the body was complete, and keep_alive is final. BB_ESHORT: the body was shorter than its
 * Content-Length. BB_ECHUNKS: the application's chunks were malformed or incomplete. After an error the
 * caller must reset the connection, so that the client notices the error. */
int bb__h1_reply_end(struct bb__h1_reply *reply, struct bb_slice *last);

/* Writes the head of a chunk with len (> 0) bytes. Returns the length of the head. The caller ends the
 * chunk with CRLF. */
size_t bb__h1_chunk_head(char head[BB_CHUNK_HEAD_MAX], uint64_t len);

/* A response that the core itself sends: an error (400..599), or 200 to a probe (conn_probe.h). */
struct bb__h1_error {
    int status;
    enum bb__reason reason; /* for the logs; NONE: a response to a probe */
    bool head_method;       /* HEAD: the body is not sent, but Content-Length counts it */
    bool keep_alive;        /* false: Connection: close is sent */
    uint8_t minor_version;  /* of the request; used if keep_alive */
    uint32_t retry_after;   /* s; 0: no Retry-After */
};

/* Appends a whole such response to `out`: status line, Date, Server, Connection, Retry-After, Allow with 405,
 * a short text body. Returns BB_OK or BB_ENOMEM (nothing is appended). */
int bb__h1_reply_error(struct bb__buf *out, const struct bb__h1_error *error, struct bb__date *date,
                       const char *server);

/* Returns the length of the body of such a response. A response to HEAD has no body. */
size_t bb__h1_reply_error_length(int status);

#endif
