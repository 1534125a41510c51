/* unbuffered.c: see unbuffered.h. */
#include "conn/unbuffered.h"

#include "base/clock.h"
#include "conn/conn_body.h"

#include <stdlib.h>

/* Bytes. One read takes at most this many, so that `rest` stays small if a client sends its next requests
 * early. */
#define READ_MAX (64 * 1024)

/* Bytes that are read to find the end of a body. */
#define LOOK_MAX 1024

struct bb__unbuffered *bb__unbuffered_new(bool awaits_continue)
{
    struct bb__unbuffered *body = calloc(1, sizeof *body);
    if (!body) return NULL;
    body->open = true;
    body->awaits_continue = awaits_continue;
    return body;
}

void bb__unbuffered_free(struct bb__unbuffered *body)
{
    if (!body) return;
    bb__buf_free(&body->rest);
    free(body);
}

/* ---- decoding ---- */

/* Decodes bytes in place. *used: bytes of the input that belong to the body. *got: decoded bytes, which are
 * at the front. */
static int decode(struct bb__unbuffered *body, uint64_t max_body, char *bytes, size_t len, size_t *used,
                  size_t *got)
{
    struct bb_slice decoded;
    int code = bb__body_decode_all(&body->decoder, max_body, bytes, len, used, &decoded);
    if (bb__is_reason(code)) {
        body->reason = (enum bb__reason)code;
        return BB_EBODY;
    }
    *got = decoded.len;
    if (decoded.len > 0 && decoded.at != bytes) memmove(bytes, decoded.at, decoded.len);
    body->open = code != BB_OK;
    return BB_OK;
}

static int take_rest(struct bb__unbuffered *body, uint64_t max_body, char *bytes, size_t len, size_t *got)
{
    size_t here = bb__buf_len(&body->rest), used;
    if (len > here) len = here;
    memcpy(bytes, bb__buf_bytes(&body->rest), len);
    int code = decode(body, max_body, bytes, len, &used, got);
    if (code == BB_OK) bb__buf_consume(&body->rest, used);
    return code;
}

/* ---- receiving ---- */

/* Counts the time since the last read that found no bytes. The host waits at most BB_UNBUFFERED_WAIT_MAX ms.
 * If more time has passed, the host was busy or frozen (SIGSTOP). */
static void note_wait(struct bb__unbuffered *body)
{
    if (body->asked_at == 0) return;
    uint64_t time = bb__elapsed(bb__clock_ms(), body->asked_at);
    if (time > BB_UNBUFFERED_WAIT_MAX) time = BB_UNBUFFERED_WAIT_MAX;
    body->waited += time;
    body->stalled += time;
    body->asked_at = 0;
}

static bool is_too_slow(const struct bb__unbuffered *body, const struct bb_settings *settings)
{
    if (settings->body_timeout > 0 && body->stalled >= settings->body_timeout) return true;
    return bb__sends_too_little(body->received, body->waited, settings);
}

static int no_bytes(struct bb__unbuffered *body, const struct bb_settings *settings)
{
    if (is_too_slow(body, settings)) {
        body->reason = BB_REASON_BODY_TIMEOUT;
        return BB_EBODY;
    }
    body->asked_at = bb__clock_ms();
    return BB_AGAIN;
}

/* Keeps bytes behind the body, which begin the next request. Without them the connection must end. */
static int keep_rest(struct bb__unbuffered *body, const char *bytes, size_t len)
{
    if (len == 0) return BB_OK;
    int code = bb__buf_append(&body->rest, bytes, len);
    if (code != BB_OK) body->reason = BB_REASON_NO_SPOOL;
    return code;
}

static int receive(struct bb__unbuffered *body, int fd, const struct bb_settings *settings, char *bytes,
                   size_t len, size_t *got)
{
    size_t count, used;
    note_wait(body);
    int code = bb__sock_recv(fd, bytes, len < READ_MAX ? len : READ_MAX, &count);
    if (code == BB_AGAIN) return no_bytes(body, settings);
    if (code != BB_OK) return BB_EGONE;
    body->received += count;
    body->stalled = 0;
    code = decode(body, settings->max_body, bytes, count, &used, got);
    return code == BB_OK ? keep_rest(body, bytes + used, count - used) : code;
}

int bb__unbuffered_read(struct bb__unbuffered *body, int fd, const struct bb_settings *settings, char *bytes,
                        size_t len, size_t *got)
{
    int code = BB_OK;
    *got = 0;
    while (code == BB_OK && *got == 0) {
        if (body->reason != BB_REASON_NONE) return BB_EBODY;
        if (!body->open) return BB_EOF;
        if (len == 0) return BB_OK;
        code = bb__buf_len(&body->rest) > 0 ? take_rest(body, settings->max_body, bytes, len, got)
                                            : receive(body, fd, settings, bytes, len, got);
    }
    body->given += *got;
    return code;
}

/* ---- the end ---- */

static void look_for_more(struct bb__unbuffered *body, int fd)
{
    size_t got;
    if (bb__buf_reserve(&body->rest, LOOK_MAX) != BB_OK) return;
    if (bb__sock_recv(fd, body->rest.data + body->rest.end, LOOK_MAX, &got) != BB_OK) return;
    body->rest.end += got;
    body->received += got;
}

bool bb__unbuffered_is_complete(struct bb__unbuffered *body, int fd)
{
    if (!body->open || body->reason != BB_REASON_NONE) return body->reason == BB_REASON_NONE;
    if (bb__buf_len(&body->rest) == 0) look_for_more(body, fd);
    struct bb__body decoder = body->decoder; /* a copy, because the host may still read the bytes */
    struct bb_slice run;
    size_t used;
    if (bb__body_decode(&decoder, bb__buf_bytes(&body->rest), bb__buf_len(&body->rest), &used, &run) != BB_OK)
        return false;
    if (run.len > 0) return false;
    bb__buf_consume(&body->rest, used);
    body->decoder = decoder;
    body->open = false;
    return true;
}

/* ---- the connection ---- */

int bb__conn_move_rest(struct bb__conn *conn)
{
    size_t behind = bb__buf_len(&conn->in) - conn->head.len;
    if (behind == 0) return BB_OK;
    int code = bb__buf_append(&conn->unbuffered->rest, bb__buf_bytes(&conn->in) + conn->head.len, behind);
    if (code == BB_OK) conn->in.end -= behind;
    return code;
}

bool bb__conn_has_read_body(struct bb__conn *conn)
{
    return bb__conn_move_rest(conn) == BB_OK && bb__unbuffered_is_complete(conn->unbuffered, conn->fd);
}

/* The client sends its next request after the body, so these bytes go back to `in`. */
void bb__conn_end_unbuffered(struct bb__conn *conn)
{
    struct bb__unbuffered *body = conn->unbuffered;
    const struct bb__buf *rest = &body->rest;
    if (body->open || body->reason != BB_REASON_NONE ||
        bb__buf_append(&conn->in, bb__buf_bytes(rest), bb__buf_len(rest)) != BB_OK)
        conn->keep_alive = false;
    bb__unbuffered_free(body);
    conn->unbuffered = NULL;
}
