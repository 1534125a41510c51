/* conn_reject.c: the core's responses to requests that the host (the program that calls the core) never sees.
 * See conn.h and conn_admission.h. */
#include "conn/conn_admission.h"
#include "conn/conn_report.h"

enum bb__conn_next bb__conn_reject(struct bb__conn *conn, struct bb__conn_context *context,
                                   enum bb__reason reason, int error)
{
    const struct bb__h1_error response = bb__conn_report(conn, context, reason, error);
    return bb__conn_reject_with(conn, context, &response);
}

enum bb__conn_next bb__conn_reject_with(struct bb__conn *conn, struct bb__conn_context *context,
                                        const struct bb__h1_error *error)
{
    if (context->log) bb__conn_log_rejected(conn, context, error);
    bb__count(&context->counts, bb__counter_of_status(error->status), 1);
    conn->keep_alive = false;
    conn->linger = true;
    bb__buf_pool_put(&context->buf_pool, &conn->in);
    bb__spool_drop(&conn->spool, context->spool_budget);
    if (bb__h1_reply_error(&conn->out, error, &context->date, context->settings->server_name) != BB_OK)
        return BB_CONN_CLOSE;

    int code = bb__conn_flush(conn, context);
    if (code == BB_EGONE) return BB_CONN_CLOSE;
    return code == BB_AGAIN ? bb__conn_await_taking(conn, context) : bb__conn_after_response(conn, context);
}

/* ---- responses that keep the connection ---- */

bool bb__conn_may_keep_alive(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    const struct bb_settings *settings = context->settings;
    if (!context->head.keep_alive || context->draining) return false;
    if (context->admission && bb__scoreboard_is_draining(context->admission->scoreboard)) return false;
    if (context->now < context->crowded_until) return false;
    return settings->keepalive_timeout > 0 &&
           (settings->max_keepalive_requests == 0 || conn->served < settings->max_keepalive_requests);
}

enum bb__conn_next bb__conn_reply(struct bb__conn *conn, struct bb__conn_context *context,
                                  const struct bb__h1_error *response)
{
    struct bb__h1_error error = *response;
    error.keep_alive = bb__conn_may_keep_alive(conn, context);
    error.minor_version = context->head.minor_version;
    if (context->log) bb__conn_log_rejected(conn, context, &error);
    bb__count(&context->counts, bb__counter_of_status(error.status), 1);
    conn->keep_alive = error.keep_alive;
    conn->large = false;
    if (bb__h1_reply_error(&conn->out, &error, &context->date, context->settings->server_name) != BB_OK)
        return BB_CONN_CLOSE;
    return bb__conn_flush(conn, context) == BB_EGONE ? BB_CONN_CLOSE : bb__conn_response_done(conn, context);
}

/* ---- max_queue, queue_timeout ---- */

/* Returns queue_timeout in seconds, rounded up, or 1 if there is no queue_timeout. After queue_timeout each
 * request that waits now has been served or rejected. */
static uint32_t retry_after(const struct bb_settings *settings)
{
    uint64_t seconds = (settings->queue_timeout + 999) / 1000;
    return seconds < 1 ? 1 : seconds < UINT32_MAX ? (uint32_t)seconds : UINT32_MAX;
}

/* If the body is incomplete, the connection ends, so that the rest of the body need not be read (RFC 9112
 * 9.3). */
static bool is_incomplete(const struct bb__conn *conn)
{
    return conn->state != BB_CONN_SERVED || conn->unbuffered;
}

enum bb__conn_next bb__conn_reject_queued(struct bb__conn *conn, struct bb__conn_context *context,
                                          enum bb__reason reason)
{
    struct bb__h1_error response = bb__conn_report(conn, context, reason, 0);
    response.retry_after = retry_after(context->settings);
    return is_incomplete(conn) ? bb__conn_reject_with(conn, context, &response)
                               : bb__conn_reply(conn, context, &response);
}
