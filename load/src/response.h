/* response.h: an incremental parser of one answer (RFC 9112), strict where framing is concerned, so that a
 * server that sends garbage is found out. Bytes in, verdict out: it owns no socket, and keeps nothing of the
 * body. */
#ifndef RESPONSE_H
#define RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESPONSE_LINE_MAX (16 * 1024) /* a status line, a field, a chunk's size line */
#define RESPONSE_HEAD_MAX (64 * 1024) /* all lines that are not the body */

enum response_verdict { RESPONSE_MORE, RESPONSE_DONE, RESPONSE_MALFORMED };

struct response {
    /* the answer, valid when RESPONSE_DONE */
    uint16_t status;
    bool keep_alive; /* the server lets the connection live on */
    bool begun;      /* any byte of an answer has come: too late to send the request again */

    /* how far it has come */
    uint8_t step; /* response.c draws them */
    uint8_t minor_version;
    bool to_head; /* the request was HEAD */
    bool has_length, chunked, says_close, says_keep_alive;
    uint64_t length;    /* Content-Length */
    uint64_t remaining; /* of the body, or of the current chunk */
    uint32_t line_bytes;
    uint16_t carried;
    char *carry; /* RESPONSE_LINE_MAX bytes of the caller's: the beginning of a line that came in parts */
};

/* Makes ready for the answer to a request that was sent just now. `carry` stays as it is. */
void response_start(struct response *response, bool to_head);

/* Reads bytes[0..len). *used of them belong to this answer when it is RESPONSE_DONE, else all that matter.
 * The verdict does not depend on how the bytes are cut. */
enum response_verdict response_feed(struct response *response, const char *bytes, size_t len, size_t *used);

/* True when the end of the connection is this answer's end as well, RFC 9112 6.3 rule 8. */
bool response_ends_with_connection(const struct response *response);

#endif
