/* conn_request.c: continues a connection that has waited, and fills in its request for the host (the program
 * that calls the core). See conn.h. */
#include "conn/conn_admission.h"
#include "conn/conn_public.h"
#include "conn/conn_report.h"

/* Ends a connection that this worker cannot serve. A request gets 503. An idle connection is closed without a
 * response. */
static enum bb__conn_next reject_unservable(struct bb__conn *conn, struct bb__conn_context *context)
{
    bool owes_response = conn->state == BB_CONN_SERVED;
    if (owes_response) return bb__conn_reject(conn, context, BB_REASON_OTHER_WORKER, 0);
    conn->keep_alive = false;
    conn->linger = true;
    return bb__conn_after_response(conn, context);
}

/* The sender of a moved request has found no file. During a deploy the sender may have other files, or none.
 * bb__conn_send_public() counts the request again. */
static enum bb__conn_next serve_moved(struct bb__conn *conn, struct bb__conn_context *context)
{
    enum bb__conn_next next;
    conn->served--;
    if (bb__conn_send_public(conn, context, &next)) return next;
    conn->served++;
    return BB_CONN_REQUEST;
}

enum bb__conn_next bb__conn_resume(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (conn->useless) return reject_unservable(conn, context);
    if (conn->state == BB_CONN_HEAD && bb__buf_len(&conn->in) > 0) return bb__conn_advance(conn, context);
    if (conn->state == BB_CONN_HEAD) {
        enum bb__timeout_kind kind = conn->served > 0 ? BB_TIMEOUT_KEEPALIVE : BB_TIMEOUT_FRESH;
        bb__timeout_set(context->timeouts, &conn->timeout, kind, context->now);
        return BB_CONN_WAIT;
    }
    bb__timeout_clear(context->timeouts, &conn->timeout);
    if (bb__conn_check_client_gone(conn, context)) return BB_CONN_CLOSE;
    if (!bb__conn_parse_again(conn, context)) return reject_unservable(conn, context);
    bb__conn_note_method(conn, context);
    conn->body_in_buffer = context->head.content_length > 0 && conn->spool.length == 0 && !conn->unbuffered;
    if (context->admission) {
        if (bb__conn_is_overdue(conn, context))
            return bb__conn_reject_queued(conn, context, BB_REASON_QUEUE_TIMEOUT);
        bb__conn_restart_health_check(conn, context);
    }
    return conn->moved && context->files ? serve_moved(conn, context) : BB_CONN_REQUEST;
}

void bb__conn_fill_request(struct bb__conn *conn, struct bb__conn_context *context,
                           struct bb_request *request)
{
    request->head = context->head;
    request->peer = (struct bb_slice){conn->peer.address, strlen(conn->peer.address)};
    request->peer_port = conn->peer.port;
    request->peer_is_unix = !conn->tcp;
    request->listener = conn->listener;
    request->proxy_time = context->head.has_start ? bb__conn_proxy_time(conn, context) : 0;
    request->body_fd = conn->spool.fd;
    request->unbuffered = conn->unbuffered != NULL;
    if (conn->body_in_buffer) {
        request->body = bb__buf_bytes(&conn->in) + conn->head.len;
        request->body_length = context->head.content_length;
    } else {
        bool in_memory = conn->spool.length > 0 && conn->spool.fd < 0;
        request->body = in_memory ? bb__buf_bytes(&conn->spool.memory) : NULL;
        request->body_length = conn->spool.length;
    }
}
