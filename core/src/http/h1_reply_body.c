/* h1_reply_body.c: see h1_reply.h. Frames the body of a response: turns its parts into spans (bytes to send).
 * Checks at the end that the body has the length that the head announced. */
#include "http/h1_reply.h"

size_t bb__h1_chunk_head(char head[BB_CHUNK_HEAD_MAX], uint64_t len)
{
    size_t digits = 1;
    for (uint64_t rest = len >> 4; rest > 0; rest >>= 4) ++digits;
    for (size_t place = digits; place-- > 0; len >>= 4) head[place] = "0123456789abcdef"[len & 15];
    memcpy(head + digits, "\r\n", 2);
    return digits + 2;
}

/* Cuts off bytes past Content-Length, because a client would read them as the next response. If there are
 * such bytes, the announced length or the body is wrong, so the connection is closed. */
static unsigned cut(struct bb__h1_reply *reply, const char *at, size_t len, struct bb_slice *span)
{
    if (len > reply->remaining) {
        len = (size_t)reply->remaining;
        reply->keep_alive = false;
    }
    reply->remaining -= len;
    *span = (struct bb_slice){at, len};
    return len > 0;
}

/* Passes on the application's own chunks. Bytes after the last chunk are dropped. *used: 0: the first byte is
 * malformed. */
static unsigned watch(struct bb__h1_reply *reply, const char *at, size_t len, struct bb_slice *span,
                      size_t *used)
{
    size_t passed = 0;
    int code = BB_AGAIN;
    while (code == BB_AGAIN && passed < len) {
        struct bb_slice run;
        size_t step;
        code = bb__body_decode(&reply->app_body, at + passed, len - passed, &step, &run);
        passed += step;
    }
    if (passed < len) reply->keep_alive = false;
    if (code > BB_REASON_BASE) *used = passed;
    *span = (struct bb_slice){at, passed};
    return passed > 0;
}

/* Finds the next run of body bytes in the application's chunks. Bytes after the last chunk are dropped.
 * *used: 0: before the next run, a byte is malformed. */
static unsigned unwrap(struct bb__h1_reply *reply, const char *at, size_t len, struct bb_slice *span,
                       size_t *used)
{
    int code = bb__body_decode(&reply->app_body, at, len, used, span);
    if (span->at != NULL) return 1;
    *used = code > BB_REASON_BASE ? 0 : len;
    return 0;
}

unsigned bb__h1_reply_part(struct bb__h1_reply *reply, const char *at, size_t len,
                           char chunk_head[BB_CHUNK_HEAD_MAX], struct bb_slice spans[BB_PART_SPANS],
                           size_t *used)
{
    *used = len;
    if (len == 0) return 0;
    switch ((enum bb__framing)reply->framing) {
    case BB_FRAMING_NONE:
        return 0;
    case BB_FRAMING_LENGTH:
        return cut(reply, at, len, spans);
    case BB_FRAMING_CHUNKED:
        spans[0] = (struct bb_slice){chunk_head, bb__h1_chunk_head(chunk_head, len)};
        spans[1] = (struct bb_slice){at, len};
        spans[2] = (struct bb_slice){"\r\n", 2};
        return 3;
    case BB_FRAMING_APP_CHUNKED:
        return watch(reply, at, len, spans, used);
    case BB_FRAMING_APP_DECODED:
        return unwrap(reply, at, len, spans, used);
    case BB_FRAMING_CLOSE:
        break;
    }
    spans[0] = (struct bb_slice){at, len};
    return 1;
}

static int check_end(const struct bb__h1_reply *reply)
{
    switch ((enum bb__framing)reply->framing) {
    case BB_FRAMING_LENGTH:
        return reply->remaining == 0 ? BB_OK : BB_ESHORT;
    case BB_FRAMING_APP_CHUNKED:
    case BB_FRAMING_APP_DECODED:
        return bb__body_done(&reply->app_body) ? BB_OK : BB_ECHUNKS;
    default:
        return BB_OK;
    }
}

int bb__h1_reply_end(struct bb__h1_reply *reply, struct bb_slice *last)
{
    *last = (struct bb_slice){0};
    if (reply->framing == BB_FRAMING_CHUNKED) *last = (struct bb_slice){"0\r\n\r\n", 5};
    int code = check_end(reply);
    if (code != BB_OK) reply->keep_alive = false;
    return code;
}
