/* h1_reply.h: the reply encoder (RFC 9112 4 to 7): turns status, fields and body parts into the bytes of one
 * response. Knows no socket; reply.c sends what it makes. */
#ifndef BB_H1_REPLY_H
#define BB_H1_REPLY_H

#include "bontebok.h"
#include "buf.h"
#include "clock.h"
#include "h1_body.h"

enum bb__framing {
    BB_FRAMING_NONE,        /* no body: HEAD, 1xx, 204, 304 */
    BB_FRAMING_LENGTH,      /* Content-Length */
    BB_FRAMING_CHUNKED,     /* we chunk */
    BB_FRAMING_APP_CHUNKED, /* the application chunks: bytes pass, and are watched */
    BB_FRAMING_APP_DECODED, /* the application chunks, the client is 1.0: decoded, until close */
    BB_FRAMING_CLOSE,       /* until close */
};

/* One reply under construction. Set by bb__h1_reply_start, then field, head, then the body calls. */
struct bb__h1_reply {
    /* of the request and the settings */
    bool head_method;      /* HEAD */
    uint8_t minor_version; /* of the request */
    bool keep_alive;       /* in: the client and the server would keep the connection; out of head(): it is kept */
    bool chunked_transfer; /* the setting */
    /* of the application's fields */
    int status;
    bool has_length, has_date, has_server, has_close, has_transfer_encoding;
    uint64_t content_length;
    /* of the framing */
    uint8_t framing; /* enum bb__framing, valid after head() */
    uint64_t remaining; /* of content_length */
    struct bb__body app_body; /* watches BB_FRAMING_APP_* */
};

/* Starts a reply: fills everything above from the request's side, and puts the status line into `out` (which is
 * cleared first). Returns BB_OK, BB_ESTATUS, BB_ENOMEM. The caller sets the four inputs before. */
int bb__h1_reply_start(struct bb__h1_reply *reply, struct bb__buf *out, int status);

/* bb_reply_field()'s contract. Content-Length is taken in, not written: head() writes it (BB_EVALUE if it is not
 * digits only). Transfer-Encoding likewise. */
int bb__h1_reply_field(struct bb__h1_reply *reply, struct bb__buf *out, const char *name, size_t name_len,
                       const char *value, size_t value_len);

/* bb_reply_head()'s contract: chooses the framing, appends Date, Server (NUL-terminated, "" for none),
 * Content-Length or Transfer-Encoding, Connection (close; keep-alive to a 1.0 client that persists) and the empty
 * line. Afterwards reply->keep_alive is final. */
int bb__h1_reply_head(struct bb__h1_reply *reply, struct bb__buf *out, uint64_t body_length, struct bb__date *date,
                      const char *server);

/* The most bytes that a chunk head takes: 16 hex digits and CRLF. */
#define BB_CHUNK_HEAD_MAX 18

/* Writes the chunk head of a chunk with len (> 0) bytes. Returns its length. The chunk ends with CRLF. */
size_t bb__h1_chunk_head(char head[BB_CHUNK_HEAD_MAX], uint64_t len);

/* A complete error answer that closes: status line, Date, Connection: close, a short text body (left out, but
 * counted, when head_method). Appended to `out`. Returns BB_OK or BB_ENOMEM. */
int bb__h1_reply_error(struct bb__buf *out, int status, bool head_method, struct bb__date *date,
                       const char *server);

/* The reason phrase of a status, "" when it has none. */
const char *bb__h1_reason(int status);

#endif
