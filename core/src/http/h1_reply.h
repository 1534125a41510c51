/* h1_reply.h: the reply encoder (RFC 9112 4 to 7): turns status, fields and body parts into the bytes of one
 * response. Knows no socket; reply.c sends what it makes. A reply is: start, field*, head, part*, end; until
 * its bytes have left it may be started again. */
#ifndef BB_H1_REPLY_H
#define BB_H1_REPLY_H

#include "base/buf.h"
#include "base/clock.h"
#include "bontebok.h"
#include "http/h1_body.h"

enum bb__framing {
    BB_FRAMING_NONE,        /* no body: HEAD, 1xx, 204, 205, 304 */
    BB_FRAMING_LENGTH,      /* Content-Length */
    BB_FRAMING_CHUNKED,     /* we chunk */
    BB_FRAMING_APP_CHUNKED, /* the application chunks: bytes pass, and are watched */
    BB_FRAMING_APP_DECODED, /* the application chunks, the client is 1.0: decoded, until close */
    BB_FRAMING_CLOSE,       /* until close */
};

struct bb__h1_reply {
    /* Of the request and the settings: the caller sets these four before each start. */
    bool head_method;      /* HEAD */
    uint8_t minor_version; /* of the request */
    bool chunked_transfer; /* the setting */
    bool keep_alive; /* in: the client and the server would keep the connection. Out: it is kept; head() may
                      * make it false, so may part() and end(), which see what the body really was */
    /* Of the application's fields. */
    bool has_length, has_date, has_server, has_close, has_chunked;
    int status;
    uint64_t content_length;
    /* Of the body, valid after head(). */
    uint8_t framing;          /* enum bb__framing */
    uint64_t remaining;       /* of content_length */
    struct bb__body app_body; /* watches BB_FRAMING_APP_* */
};

/* Starts a reply: forgets all but the four inputs, and puts the status line into `out` (which is cleared
 * first). Returns BB_OK, BB_ESTATUS, BB_ENOMEM. */
int bb__h1_reply_start(struct bb__h1_reply *reply, struct bb__buf *out, int status);

/* bb_reply_field()'s contract. Content-Length and Transfer-Encoding are taken in, not written: head() writes
 * them. BB_EVALUE also for a Content-Length that is not digits only or differs from the one before, and for a
 * transfer coding that is not "chunked", once ("identity" counts for nothing). After an error the reply must
 * be started again. */
int bb__h1_reply_field(struct bb__h1_reply *reply, struct bb__buf *out, const char *name, size_t name_len,
                       const char *value, size_t value_len);

/* bb_reply_head()'s contract: chooses the framing, appends Date, Server (NUL-terminated, "" for none),
 * Content-Length or Transfer-Encoding, Connection (close; keep-alive to a 1.0 client that persists) and the
 * empty line. Returns BB_OK or BB_ENOMEM. */
int bb__h1_reply_head(struct bb__h1_reply *reply, struct bb__buf *out, uint64_t body_length,
                      struct bb__date *date, const char *server);

/* The most bytes that a chunk head takes: 16 hex digits and CRLF. */
#define BB_CHUNK_HEAD_MAX 18

/* The most spans that one call of part() gives: chunk head, bytes, CRLF. */
#define BB_PART_SPANS 3

/* Frames the front of the body part at[0..len). The part counts as sent: call it only with bytes whose spans
 * will be sent or copied as a whole.
 *
 * spans: what goes on the wire, in this order; the first may lie in chunk_head, which must live as long, the
 * others in the part or in static memory. Returns how many: 0..BB_PART_SPANS, none of them empty. *used: how
 * much of the part they stand for; more than 0 when len is. Less than len only when an application's chunks
 * are decoded: call again with the rest.
 *
 * An empty part gives no span, so it never ends a chunked body. Bytes past the end of the body (past
 * Content-Length, after the application's last chunk) are used and give no span; keep_alive is then false. A
 * body that is not wanted (BB_FRAMING_NONE) gives no span either. */
unsigned bb__h1_reply_part(struct bb__h1_reply *reply, const char *at, size_t len,
                           char chunk_head[BB_CHUNK_HEAD_MAX], struct bb_slice spans[BB_PART_SPANS],
                           size_t *used);

/* Ends the body. *last: what must still be sent, static: the last chunk of a body that we chunk; else empty.
 * Returns BB_OK: the body was whole, keep_alive is final. BB_ESHORT: it was shorter than its Content-Length,
 * or the application's chunks were not well-formed or not ended: the connection must be reset, so that the
 * client can tell. */
int bb__h1_reply_end(struct bb__h1_reply *reply, struct bb_slice *last);

/* Writes the chunk head of a chunk with len (> 0) bytes. Returns its length. The chunk ends with CRLF. */
size_t bb__h1_chunk_head(char head[BB_CHUNK_HEAD_MAX], uint64_t len);

/* An error answer (400..599) that the core gives. */
struct bb__h1_error {
    int status;
    bool head_method;      /* HEAD: the body is left out, but counted */
    bool keep_alive;       /* else it says Connection: close */
    uint8_t minor_version; /* of the request, where it is kept alive */
    uint32_t retry_after;  /* s; 0: it does not say */
};

/* All of it: status line, Date, Connection, Retry-After, a short text body. Appended to `out`. Returns BB_OK
 * or BB_ENOMEM (nothing appended). */
int bb__h1_reply_error(struct bb__buf *out, const struct bb__h1_error *error, struct bb__date *date,
                       const char *server);

/* Of its body, where it has one. */
size_t bb__h1_reply_error_length(int status);

#endif
