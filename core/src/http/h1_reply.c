/* h1_reply.c: see h1_reply.h. The head of a response: the status line, the fields that the core adds after
 * the application's fields, and the choice of framing. The application's fields are in h1_reply_fields.c, the
 * body is in h1_reply_body.c. */
#include "http/h1_reply.h"

#include <stdio.h>
#include <string.h>

#include "http/h1_status.h"

/* head() or error() adds Date, Server, Content-Type, Content-Length or Transfer-Encoding, Retry-After, Allow,
 * Connection and the empty line. This is their maximum length, without the server's name. */
#define OWN_FIELDS_MAX 192

int bb__h1_reply_start(struct bb__h1_reply *reply, struct bb__buf *out, int status)
{
    reply->has_length = reply->has_date = reply->has_server = reply->has_close = reply->has_chunked = false;
    reply->has_upgrade = false;
    reply->content_length = 0;
    reply->status = status;
    bb__buf_clear(out);
    if (status < 100 || status > 999) return BB_ESTATUS;
    if (bb__buf_reserve(out, BB_STATUS_LINE_MAX) != BB_OK) return BB_ENOMEM;
    out->end += bb__h1_put_status_line(out->data, status);
    return BB_OK;
}

/* RFC 9110 6.4.1: 1xx, 204, 304 and all responses to HEAD have no content. A 205 must not get any
 * (15.3.6). */
static bool is_bodyless(const struct bb__h1_reply *reply)
{
    return reply->head_method || reply->status < 200 || reply->status == 204 || reply->status == 205 ||
           reply->status == 304;
}

/* A client reads a 205 like a 200, so a 205 needs "Content-Length: 0". */
static void announce_nothing(struct bb__h1_reply *reply)
{
    reply->has_chunked = false;
    reply->has_length = true;
    reply->content_length = 0;
}

/* RFC 9110 15.2.2: after this head, both sides use the protocol that Upgrade names. */
static bool is_upgrade(const struct bb__h1_reply *reply)
{
    return reply->status == 101 && reply->has_upgrade;
}

/* After a partial hijack, the application's chunks do not pass through the core. So the core cannot decode
 * them for an HTTP/1.0 client, and the field has to say what they are: proxies such as nginx understand it.
 */
static enum bb__framing frame_chunks(const struct bb__h1_reply *reply, uint64_t body_length)
{
    bool passes = reply->minor_version > 0 || body_length == BB_LENGTH_RAW;
    return passes ? BB_FRAMING_APP_CHUNKED : BB_FRAMING_APP_DECODED;
}

/* RFC 9112 6.3. If body_length is announced, also sets content_length. */
static enum bb__framing choose_framing(struct bb__h1_reply *reply, uint64_t body_length)
{
    if (reply->status == 205) announce_nothing(reply);
    if (is_upgrade(reply)) return BB_FRAMING_CLOSE;
    if (is_bodyless(reply)) return BB_FRAMING_NONE;
    if (reply->has_chunked) return frame_chunks(reply, body_length);
    if (!reply->has_length && body_length < BB_LENGTH_RAW) {
        reply->has_length = true;
        reply->content_length = body_length;
    }
    if (reply->has_length) return BB_FRAMING_LENGTH;
    bool may_chunk = reply->minor_version > 0 && reply->chunked_transfer && body_length != BB_LENGTH_RAW;
    return may_chunk ? BB_FRAMING_CHUNKED : BB_FRAMING_CLOSE;
}

/* Tells whether Content-Length is sent. 1xx and 204 must not have it (RFC 9110 8.6). A 304, or a response to
 * HEAD, can have the application's Content-Length. The core adds no Content-Length to these responses. The
 * right value would be the length of the response to a GET (8.6). The core does not know this length, because
 * Rack::Head empties the body. A response with both chunked and Content-Length can be read in two ways (RFC
 * 9112 6.2). */
static bool announces_length(const struct bb__h1_reply *reply)
{
    if (reply->status < 200 || reply->status == 204) return false;
    return reply->has_length && !reply->has_chunked;
}

/* After a 1xx, the client still waits for the final response. If the connection stayed open, the client would
 * treat the response to its next request as this final response. */
static bool must_close(const struct bb__h1_reply *reply)
{
    return reply->has_close || reply->status < 200 || reply->framing == BB_FRAMING_APP_DECODED ||
           reply->framing == BB_FRAMING_CLOSE;
}

static char *put_date(char *to, struct bb__date *date)
{
    to = BB_PUT_LITERAL(to, "Date: ");
    to = bb__put(to, bb__date_now(date), BB_DATE_LEN);
    return BB_PUT_LITERAL(to, "\r\n");
}

static char *put_server(char *to, const char *server, size_t len)
{
    if (len == 0) return to;
    to = BB_PUT_LITERAL(to, "Server: ");
    to = bb__put(to, server, len);
    return BB_PUT_LITERAL(to, "\r\n");
}

static char *put_content_length(char *to, uint64_t length)
{
    to = BB_PUT_LITERAL(to, "Content-Length: ");
    char *end = to + 1;
    for (uint64_t rest = length / 10; rest > 0; rest /= 10) end++;
    for (char *digit = end; digit > to; length /= 10) *--digit = (char)('0' + length % 10);
    return BB_PUT_LITERAL(end, "\r\n");
}

/* Only error responses have this field, so sprintf() is fast enough. */
static char *put_retry_after(char *to, uint32_t seconds)
{
    return seconds > 0 ? to + sprintf(to, "Retry-After: %u\r\n", (unsigned)seconds) : to;
}

/* RFC 9110 15.5.6: the core responds with 405 only to probes. */
static char *put_allow(char *to, int status)
{
    return status == 405 ? BB_PUT_LITERAL(to, "Allow: GET, HEAD\r\n") : to;
}

/* Without a Connection field an HTTP/1.1 client keeps the connection, and an HTTP/1.0 client closes it
 * (RFC 9112 9.3). */
static char *put_connection(char *to, bool keep_alive, uint8_t minor_version)
{
    if (!keep_alive) return BB_PUT_LITERAL(to, "Connection: close\r\n");
    return minor_version == 0 ? BB_PUT_LITERAL(to, "Connection: keep-alive\r\n") : to;
}

/* RFC 9110 7.8: a sender of Upgrade must also send this option. */
static char *put_upgrade(char *to, const struct bb__h1_reply *reply)
{
    bool goes_on = reply->keep_alive || is_upgrade(reply);
    return goes_on ? BB_PUT_LITERAL(to, "Connection: upgrade\r\n")
                   : BB_PUT_LITERAL(to, "Connection: close, upgrade\r\n");
}

int bb__h1_reply_head(struct bb__h1_reply *reply, struct bb__buf *out, uint64_t body_length,
                      struct bb__date *date, const char *server)
{
    size_t server_len = reply->has_server || server[0] == '\0' ? 0 : strlen(server);
    if (bb__buf_reserve(out, OWN_FIELDS_MAX + server_len) != BB_OK) return BB_ENOMEM;

    reply->framing = (uint8_t)choose_framing(reply, body_length);
    reply->remaining = reply->content_length;
    /* The application's trailers need no limit, because the core does not keep them. */
    if (reply->has_chunked) bb__body_start_chunked(&reply->app_body, UINT32_MAX, UINT32_MAX);
    if (must_close(reply) || body_length == BB_LENGTH_RAW) reply->keep_alive = false;

    char *at = out->data + out->end;
    if (!reply->has_date) at = put_date(at, date);
    at = put_server(at, server, server_len);
    if (announces_length(reply)) at = put_content_length(at, reply->content_length);
    if (reply->framing == BB_FRAMING_CHUNKED || reply->framing == BB_FRAMING_APP_CHUNKED)
        at = BB_PUT_LITERAL(at, "Transfer-Encoding: chunked\r\n");
    at = reply->has_upgrade ? put_upgrade(at, reply)
                            : put_connection(at, reply->keep_alive, reply->minor_version);
    at = BB_PUT_LITERAL(at, "\r\n");
    out->end = (size_t)(at - out->data);
    return BB_OK;
}

/* The body is the status line's text, such as "400 Bad Request", and a line feed. */
static size_t error_text_length(size_t status_line_len)
{
    return status_line_len - BB_STATUS_LINE_CODE - 2;
}

size_t bb__h1_reply_error_length(int status)
{
    char line[BB_STATUS_LINE_MAX];
    return error_text_length(bb__h1_put_status_line(line, status)) + 1;
}

int bb__h1_reply_error(struct bb__buf *out, const struct bb__h1_error *error, struct bb__date *date,
                       const char *server)
{
    char line[BB_STATUS_LINE_MAX];
    size_t line_len = bb__h1_put_status_line(line, error->status);
    size_t server_len = strlen(server);
    if (bb__buf_reserve(out, 2 * sizeof line + OWN_FIELDS_MAX + server_len) != BB_OK) return BB_ENOMEM;

    const char *text = line + BB_STATUS_LINE_CODE;
    size_t text_len = error_text_length(line_len);

    char *at = bb__put(out->data + out->end, line, line_len);
    at = put_date(at, date);
    at = put_server(at, server, server_len);
    at = BB_PUT_LITERAL(at, "Content-Type: text/plain\r\n");
    at = put_content_length(at, text_len + 1);
    at = put_retry_after(at, error->retry_after);
    at = put_allow(at, error->status);
    at = put_connection(at, error->keep_alive, error->minor_version);
    at = BB_PUT_LITERAL(at, "\r\n");
    if (!error->head_method) {
        at = bb__put(at, text, text_len);
        *at++ = '\n';
    }
    out->end = (size_t)(at - out->data);
    return BB_OK;
}
