/* conn_log.c: the access log's line for a request that gets its response from the core. See conn.h. */
#include "conn/conn.h"
#include "http/h1_reply.h"
#include "system/access_log.h"

/* An invalid request line is logged up to this length, in bytes. */
#define LINE_MAX_SHOWN 1024

/* Skips one empty line at the beginning, as the parser does (RFC 9112 2.2). */
static struct bb_slice first_line(const struct bb__buf *in)
{
    const char *bytes = bb__buf_bytes(in);
    size_t len = bb__buf_len(in), end = 0;
    if (len >= 2 && memcmp(bytes, "\r\n", 2) == 0) {
        bytes += 2;
        len -= 2;
    }
    if (len > LINE_MAX_SHOWN) len = LINE_MAX_SHOWN;
    while (end < len && bytes[end] != '\r' && bytes[end] != '\n') end++;
    return (struct bb_slice){bytes, end};
}

static uint64_t body_length(const struct bb__h1_error *error)
{
    return error->head_method || error->reason == BB_REASON_CLIENT_GONE
               ? 0
               : bb__h1_reply_error_length(error->status);
}

static uint64_t waited(const struct bb__conn *conn)
{
    uint64_t since = bb__conn_waits_since(conn);
    return since > 0 ? bb__elapsed(bb__clock_us(), since) : BB_LOG_UNKNOWN;
}

static struct bb__log_entry entry_of(const struct bb__conn *conn, const struct bb__conn_context *context,
                                     const struct bb__h1_error *error)
{
    bb__buf_clear(&context->log->response);
    return (struct bb__log_entry){.peer = conn->peer.address,
                                  .status = error->status,
                                  .reason = bb__reasons[error->reason].name,
                                  .body_length = body_length(error),
                                  .time = bb__clock_real_us(),
                                  .duration = BB_LOG_UNKNOWN,
                                  .queued = BB_LOG_UNKNOWN,
                                  .proxy_queued = BB_LOG_UNKNOWN,
                                  .response = &context->log->response,
                                  .port = context->ports[conn->listener],
                                  .pid = context->log->pid,
                                  .connection = error->keep_alive ? '+' : '-'};
}

void bb__conn_log_rejected(const struct bb__conn *conn, struct bb__conn_context *context,
                           const struct bb__h1_error *error)
{
    struct bb_head head = {0};
    struct bb__log_entry entry = entry_of(conn, context, error);
    entry.head = &head;
    entry.queued = waited(conn);
    /* Parses again, because another connection's head may have overwritten context->head. */
    size_t len = bb__buf_len(&conn->in), head_len;
    if (len > 0 && bb__head_parse(bb__buf_bytes(&conn->in), len, &context->head_limits, context->names,
                                  context->fields, &head, &head_len) != BB_OK)
        entry.line = first_line(&conn->in);
    bb__access_log_add(context->log, &entry, context->now);
}

void bb__conn_log_file(const struct bb__conn *conn, struct bb__conn_context *context, int status,
                       uint64_t body_length, struct bb_slice head, uint64_t began)
{
    struct bb__access_log *log = context->log;
    const struct bb__h1_error response = {.status = status, .keep_alive = conn->keep_alive};
    struct bb__log_entry entry = entry_of(conn, context, &response);
    entry.head = &context->head;
    entry.reason = NULL;
    entry.body_length = body_length;
    if (began > 0) {
        entry.duration = bb__elapsed(bb__clock_us(), began);
        entry.time = entry.time > entry.duration ? entry.time - entry.duration : 0;
        entry.queued = 0;
    }
    if (log->format->response_count > 0) bb__log_keep(log->format, &log->response, head.at, head.len);
    bb__access_log_add(log, &entry, context->now);
}

void bb__conn_log_overdue(const struct bb__conn *conn, struct bb__conn_context *context,
                          const struct bb__h1_error *error, const struct bb_request *request,
                          uint64_t duration)
{
    struct bb__log_entry entry = entry_of(conn, context, error);
    entry.head = &request->head;
    entry.duration = duration;
    entry.time = entry.time > duration ? entry.time - duration : 0;
    entry.queued = request->queue_time;
    if (request->proxy_time > 0) entry.proxy_queued = request->proxy_time;
    bb__access_log_add(context->log, &entry, context->now);
}
