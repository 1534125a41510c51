/* response.h: an incremental parser of one response (RFC 9112). It is strict about framing, so that it
 * detects a server that sends garbage. It reads bytes and returns a verdict. It has no socket, and does
 * not store the body. */
#ifndef RESPONSE_H
#define RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESPONSE_LINE_MAX (16 * 1024) /* a status line, a field, a chunk's size line */
#define RESPONSE_HEAD_MAX (64 * 1024) /* all lines outside of the body */

enum response_verdict { RESPONSE_MORE, RESPONSE_DONE, RESPONSE_MALFORMED };

struct response {
    /* the response, valid when RESPONSE_DONE */
    uint16_t status;
    bool keep_alive; /* the server keeps the connection open */
    bool begun;      /* a byte of a response has arrived: the request must not be sent again */

    /* the state of the parser */
    uint8_t step; /* response.c has a diagram */
    uint8_t minor_version;
    bool to_head; /* the request was HEAD */
    bool has_length, chunked, says_close, says_keep_alive;
    uint64_t length;    /* Content-Length */
    uint64_t remaining; /* bytes of the body, or of the current chunk */
    uint32_t line_bytes;
    uint16_t carried;
    char *carry; /* the caller's RESPONSE_LINE_MAX bytes, for the beginning of a line that arrives in parts */
};

/* Prepares the parser for the response to a new request. The field `carry` keeps its value. */
void response_start(struct response *response, bool to_head);

/* Reads bytes[0..len). *used: if RESPONSE_DONE, the number of bytes that belong to this response;
 * otherwise the number of bytes that were read. The verdict does not depend on how the bytes are split
 * into calls. */
enum response_verdict response_feed(struct response *response, const char *bytes, size_t len, size_t *used);

/* True if the end of the connection ends this response, RFC 9112 6.3 rule 8. */
bool response_ends_with_connection(const struct response *response);

#endif
