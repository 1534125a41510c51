/* conn_body.c: see conn_body.h. */
#include "conn/conn_body.h"

#include "base/path_list.h"
#include "conn/conn_admission.h"

#include <errno.h>

static enum bb__conn_next reject_spool(struct bb__conn *conn, struct bb__conn_context *context, int code)
{
    switch (code) {
    case BB_ENOSPACE:
        return bb__conn_reject(conn, context, BB_REASON_SPOOL_FULL, 0);
    case BB_EDISK:
        return bb__conn_reject(conn, context, BB_REASON_SPOOL_UNWRITABLE, errno);
    default:
        return bb__conn_reject(conn, context, BB_REASON_NO_SPOOL, errno);
    }
}

static bool over_max_body(const struct bb__conn_context *context, uint64_t length)
{
    return context->settings->max_body > 0 && length > context->settings->max_body;
}

/* Returns whether the announced size of a chunk exceeds the spool's budget. If so, the body is rejected
 * before the chunk has come. */
static bool announces_too_much(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    uint64_t announced = conn->body.announced, here = conn->spool.length;
    return announced > here && !bb__spool_would_fit(context->spool_budget, announced - here);
}

/* Decodes body bytes into the spool. *used: bytes that belong to the body. Returns BB_OK: the body is
 * complete; BB_AGAIN: the body is incomplete; a reason to reject it; negative: an error of the spool. */
static int take_body(struct bb__conn *conn, struct bb__conn_context *context, char *bytes, size_t len,
                     size_t *used)
{
    struct bb_slice decoded;
    int code = bb__body_decode_all(&conn->body, context->settings->max_body, bytes, len, used, &decoded);
    if (bb__is_reason(code)) return code;
    if (announces_too_much(conn, context)) return BB_ENOSPACE;
    if (decoded.len == 0) return code;
    int spooled = bb__spool_append(&conn->spool, context->spool_budget, decoded.at, decoded.len);
    return spooled == BB_OK ? code : spooled;
}

static enum bb__conn_next reject_body(struct bb__conn *conn, struct bb__conn_context *context, int code)
{
    return code < 0 ? reject_spool(conn, context, code)
                    : bb__conn_reject(conn, context, (enum bb__reason)code, 0);
}

static enum bb__conn_next await_body(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (context->admission && bb__conn_queue_is_full(context))
        return bb__conn_reject_queued(conn, context, BB_REASON_QUEUE_FULL);
    conn->state = BB_CONN_BODY;
    conn->upload.began = conn->upload.progress = context->now;
    conn->upload.received = 0;
    bb__timeout_set(context->timeouts, &conn->timeout, BB_TIMEOUT_BODY, context->now);
    if (context->head.expect_continue && bb__conn_say_continue(conn, context) != BB_OK) return BB_CONN_CLOSE;
    return BB_CONN_WAIT;
}

/* A request with Upgrade may become another protocol, whose bytes follow the body. So its body is complete
 * before the host gets the request. */
static bool is_unbuffered(const struct bb__conn_context *context)
{
    const struct bb_head *head = &context->head;
    const char *paths = context->settings->unbuffered_bodies;
    return !head->upgrade && bb__path_is_listed(paths, head->path.at, head->path.len, true);
}

static void start_decoder(struct bb__body *decoder, const struct bb__conn_context *context)
{
    const struct bb__head_limits *limits = &context->head_limits;
    if (context->head.chunked)
        bb__body_start_chunked(decoder, (uint32_t)limits->max_field_bytes, limits->max_fields);
    else
        bb__body_start_length(decoder, context->head.content_length);
}

/* The request may have waited in the shared queue (conn_transfer.c). */
static enum bb__conn_next serve_unbuffered(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (context->admission && bb__conn_is_overdue(conn, context))
        return bb__conn_reject_queued(conn, context, BB_REASON_QUEUE_TIMEOUT);
    conn->unbuffered = bb__unbuffered_new(context->head.expect_continue);
    if (!conn->unbuffered) return BB_CONN_CLOSE;
    start_decoder(&conn->unbuffered->decoder, context);
    return bb__conn_serve(conn, context);
}

enum bb__conn_next bb__conn_begin_body(struct bb__conn *conn, struct bb__conn_context *context)
{
    const struct bb_head *head = &context->head;
    char *behind_head = bb__buf_bytes(&conn->in) + conn->head.len;
    size_t here = bb__buf_len(&conn->in) - conn->head.len;

    if (!head->chunked) {
        if (over_max_body(context, head->content_length))
            return bb__conn_reject(conn, context, BB_REASON_LARGE_BODY, 0);
        if (head->content_length <= here) {
            conn->body_in_buffer = head->content_length > 0;
            return bb__conn_serve(conn, context);
        }
    }
    if (is_unbuffered(context)) return serve_unbuffered(conn, context);
    if (!head->chunked && !bb__spool_would_fit(context->spool_budget, head->content_length))
        return reject_spool(conn, context, BB_ENOSPACE);
    start_decoder(&conn->body, context);

    size_t used;
    int code = take_body(conn, context, behind_head, here, &used);
    if (code != BB_OK && code != BB_AGAIN) return reject_body(conn, context, code);
    memmove(behind_head, behind_head + used, here - used);
    conn->in.end -= used;
    return code == BB_OK ? bb__conn_serve(conn, context) : await_body(conn, context);
}

/* While the socket has unread bytes, min_body_rate is not checked, because upload.received does not count
 * these bytes. */
bool bb__conn_sends_too_slowly(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    const struct bb_settings *settings = context->settings;
    uint64_t stalled = bb__elapsed(context->now, conn->upload.progress);
    uint64_t time = bb__elapsed(context->now, conn->upload.began);
    if (settings->body_timeout > 0 && stalled >= settings->body_timeout) return true;
    return bb__sends_too_little(conn->upload.received, time, settings) && !bb__sock_has_bytes(conn->fd);
}

enum bb__conn_next bb__conn_receive_body(struct bb__conn *conn, struct bb__conn_context *context)
{
    size_t got, used;
    int code = bb__sock_recv(conn->fd, context->scratch, BB_SCRATCH_SIZE, &got);
    if (code == BB_AGAIN) return BB_CONN_WAIT;
    if (code != BB_OK) return BB_CONN_CLOSE;

    conn->wait.ready_at = context->read_at;
    conn->upload.received += got;
    conn->upload.progress = context->now;
    code = take_body(conn, context, context->scratch, got, &used);
    if (code == BB_AGAIN) return BB_CONN_WAIT;
    if (code != BB_OK) return reject_body(conn, context, code);
    if (bb__buf_append(&conn->in, context->scratch + used, got - used) != BB_OK) return BB_CONN_CLOSE;
    return bb__conn_serve(conn, context);
}
