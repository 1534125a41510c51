/* response.c: see response.h.
 *
 *   STATUS -> FIELDS -+-> (no body) ---------------------------> done
 *     ^          |    +-> LENGTH_BODY -------------------------> done
 *     +-- 1xx ---+    +-> CHUNK_SIZE -> CHUNK_BODY -> CHUNK_END
 *                     |       |  ^------------------------|
 *                     |       +-> (size 0) TRAILERS -----------> done
 *                     +-> CLOSE_BODY --------------------------> done at the end of the connection
 */
#include "response.h"
#include "text.h"

#include <string.h>

enum step { STATUS, FIELDS, LENGTH_BODY, CHUNK_SIZE, CHUNK_BODY, CHUNK_END, TRAILERS, CLOSE_BODY };

/* A line without its CRLF. */
struct line {
    const char *at;
    size_t len;
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

void response_start(struct response *response, bool to_head)
{
    char *carry = response->carry;
    *response = (struct response){.carry = carry, .to_head = to_head};
}

bool response_ends_with_connection(const struct response *response)
{
    return response->step == CLOSE_BODY;
}

/* Reads one line from *at..end. RESPONSE_MORE: the line is not complete, and its bytes so far were copied
 * to `carry`. A line that ends with a bare LF is malformed, because parsers that disagree about a bare LF
 * see different responses. */
static enum response_verdict take_line(struct response *response, const char **at, const char *end,
                                       struct line *line)
{
    const char *start = *at;
    const char *newline = memchr(start, '\n', (size_t)(end - start));
    size_t len = newline ? (size_t)(newline + 1 - start) : (size_t)(end - start);
    response->line_bytes += (uint32_t)len;
    if (response->carried + len > RESPONSE_LINE_MAX) return RESPONSE_MALFORMED;
    *at += len;
    if (!newline || response->carried > 0) {
        memcpy(response->carry + response->carried, start, len);
        len += response->carried;
        response->carried = (uint16_t)len;
        start = response->carry;
    }
    if (!newline) return RESPONSE_MORE;

    response->carried = 0;
    if (response->line_bytes > RESPONSE_HEAD_MAX || len < 2 || start[len - 2] != '\r')
        return RESPONSE_MALFORMED;
    *line = (struct line){.at = start, .len = len - 2};
    return RESPONSE_DONE;
}

/* status-line = HTTP-version SP status-code SP [ reason-phrase ]. The second SP may be missing if there is
 * no reason-phrase. Many servers omit this SP, and the omission allows no smuggling. */
static enum response_verdict read_status(struct response *response, struct line line)
{
    const char *at = line.at;
    if (line.len < 12 || memcmp(at, "HTTP/1.", 7) != 0 || !is_digit(at[7]) || at[8] != ' ')
        return RESPONSE_MALFORMED;
    if (!is_digit(at[9]) || !is_digit(at[10]) || !is_digit(at[11]) || at[9] == '0') return RESPONSE_MALFORMED;
    if (line.len > 12 && (at[12] != ' ' || !text_is_value(at + 13, line.len - 13))) return RESPONSE_MALFORMED;
    response->minor_version = at[7] != '0';
    response->status = (uint16_t)((at[9] - '0') * 100 + (at[10] - '0') * 10 + (at[11] - '0'));
    response->step = FIELDS;
    return RESPONSE_MORE;
}

/* Reads the value of Content-Length: only digits. Several equal values are allowed, RFC 9112 6.3 rule 5. */
static bool read_length(struct response *response, const char *digits, size_t len)
{
    uint64_t length = 0;
    if (len == 0 || len > 18) return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(digits[i])) return false;
        length = length * 10 + (uint64_t)(digits[i] - '0');
    }
    if (response->has_length && response->length != length) return false;
    response->has_length = true;
    response->length = length;
    return true;
}

/* Reads one field of the head or of the trailers. Framing fields in trailers have no effect (RFC 9110 6.5.1).
 * A line that begins with white space (obs-fold) has no name and is rejected. */
static bool read_field(struct response *response, struct line line)
{
    const char *colon = memchr(line.at, ':', line.len);
    if (!colon || !text_is_token(line.at, (size_t)(colon - line.at))) return false;
    size_t name_len = (size_t)(colon - line.at);
    const char *value = colon + 1;
    size_t value_len = line.len - name_len - 1;
    if (!text_is_value(value, value_len)) return false;
    if (response->step == TRAILERS) return true;

    text_trim(&value, &value_len);
    if (text_is_word(line.at, name_len, "content-length")) return read_length(response, value, value_len);
    if (text_is_word(line.at, name_len, "transfer-encoding")) {
        /* A request without the field TE allows only the coding chunked. The server may apply chunked only
         * once (RFC 9112 7). */
        if (response->chunked || !text_is_word(value, value_len, "chunked")) return false;
        response->chunked = true;
    } else if (text_is_word(line.at, name_len, "connection")) {
        response->says_close |= text_list_has(value, value_len, "close");
        response->says_keep_alive |= text_list_has(value, value_len, "keep-alive");
    }
    return true;
}

static bool is_bodyless(const struct response *response)
{
    return response->to_head || response->status == 101 || response->status == 204 || response->status == 304;
}

/* Called at the empty line. Determines the framing of the body, RFC 9112 6.3. */
static enum response_verdict end_head(struct response *response)
{
    if (response->chunked && (response->has_length || response->minor_version == 0))
        return RESPONSE_MALFORMED;
    if (response->status < 200 && response->status != 101) {
        response_start(response, response->to_head);
        response->begun = true;
        return RESPONSE_MORE;
    }
    response->keep_alive = response->status != 101 && !response->says_close &&
                           (response->minor_version > 0 || response->says_keep_alive);
    if (is_bodyless(response)) return RESPONSE_DONE;
    if (response->chunked) {
        response->step = CHUNK_SIZE;
    } else if (response->has_length) {
        response->step = LENGTH_BODY;
        response->remaining = response->length;
        if (response->remaining == 0) return RESPONSE_DONE;
    } else {
        response->step = CLOSE_BODY;
        response->keep_alive = false;
    }
    return RESPONSE_MORE;
}

static int hex_value(char byte)
{
    if (is_digit(byte)) return byte - '0';
    if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
    if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
    return -1;
}

/* chunk-size [ chunk-ext ]. Extensions are checked for control bytes and ignored (RFC 9112 7.1.1). */
static enum response_verdict read_chunk_size(struct response *response, struct line line)
{
    uint64_t size = 0;
    size_t digits = 0;
    while (digits < line.len && hex_value(line.at[digits]) >= 0) {
        size = size << 4 | (uint64_t)hex_value(line.at[digits++]);
        if (digits > 15) return RESPONSE_MALFORMED;
    }
    const char *rest = line.at + digits;
    size_t rest_len = line.len - digits;
    bool is_bare = rest_len == 0;
    text_trim(&rest, &rest_len);
    bool has_extension = rest_len > 0 && *rest == ';' && text_is_value(rest, rest_len);
    if (digits == 0 || (!is_bare && !has_extension)) return RESPONSE_MALFORMED;
    response->remaining = size;
    response->step = size > 0 ? CHUNK_BODY : TRAILERS;
    /* RESPONSE_HEAD_MAX limits a head or a trailer section, not the number of chunks. */
    response->line_bytes = 0;
    return RESPONSE_MORE;
}

static enum response_verdict read_line(struct response *response, struct line line)
{
    switch ((enum step)response->step) {
    case STATUS:
        return read_status(response, line);
    case FIELDS:
        if (line.len == 0) return end_head(response);
        return read_field(response, line) ? RESPONSE_MORE : RESPONSE_MALFORMED;
    case CHUNK_SIZE:
        return read_chunk_size(response, line);
    case CHUNK_END:
        response->step = CHUNK_SIZE;
        return line.len == 0 ? RESPONSE_MORE : RESPONSE_MALFORMED;
    case TRAILERS:
        if (line.len == 0) return RESPONSE_DONE;
        return read_field(response, line) ? RESPONSE_MORE : RESPONSE_MALFORMED;
    case LENGTH_BODY:
    case CHUNK_BODY:
    case CLOSE_BODY:
        break;
    }
    return RESPONSE_MALFORMED;
}

static enum response_verdict skip_body(struct response *response, const char **at, const char *end)
{
    if (response->step == CLOSE_BODY) {
        *at = end;
        return RESPONSE_MORE;
    }
    size_t len = (size_t)(end - *at);
    if (len > response->remaining) len = (size_t)response->remaining;
    *at += len;
    response->remaining -= len;
    if (response->remaining > 0) return RESPONSE_MORE;
    if (response->step == LENGTH_BODY) return RESPONSE_DONE;
    response->step = CHUNK_END;
    return RESPONSE_MORE;
}

enum response_verdict response_feed(struct response *response, const char *bytes, size_t len, size_t *used)
{
    enum response_verdict verdict = RESPONSE_MORE;
    const char *at = bytes, *end = bytes + len;
    if (len > 0) response->begun = true;

    while (verdict == RESPONSE_MORE && at < end) {
        if (response->step == LENGTH_BODY || response->step == CHUNK_BODY || response->step == CLOSE_BODY) {
            verdict = skip_body(response, &at, end);
            continue;
        }
        struct line line = {0};
        verdict = take_line(response, &at, end, &line);
        if (verdict == RESPONSE_DONE) verdict = read_line(response, line);
    }
    *used = (size_t)(at - bytes);
    return verdict;
}
