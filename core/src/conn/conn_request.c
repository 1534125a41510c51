/* conn_request.c: a connection whose request is complete: what the host sees of it, and how it goes on. See
 * conn.h. */
#include "conn/conn_queue.h"

/* The worker that has passed it on could serve it, this one cannot. If it was idle, it just ends. */
static enum bb__conn_next refuse_useless(struct bb__conn *conn, struct bb__conn_context *context)
{
    bool owes_answer = conn->state == BB_CONN_SERVED;
    if (owes_answer)
        return bb__conn_refuse(conn, context, bb__conn_tell_fault(conn, context, BB_FAULT_USELESS, 0));
    conn->keep_alive = false;
    conn->linger = true;
    return bb__conn_after_answer(conn, context);
}

enum bb__conn_next bb__conn_resume(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (conn->useless) return refuse_useless(conn, context);
    if (conn->state == BB_CONN_HEAD && bb__buf_len(&conn->in) > 0) return bb__conn_advance(conn, context);
    if (conn->state == BB_CONN_HEAD) {
        enum bb__deadline_kind kind = conn->served > 0 ? BB_DEADLINE_KEEPALIVE : BB_DEADLINE_FRESH;
        bb__deadline_set(context->deadlines, &conn->deadline, kind, context->now);
        return BB_CONN_WAIT;
    }
    bb__deadline_clear(context->deadlines, &conn->deadline);
    if (bb__conn_is_deserted(conn, context)) return BB_CONN_CLOSE;
    if (!bb__conn_parse_again(conn, context)) return refuse_useless(conn, context);
    bb__conn_note_method(conn, context);
    conn->body_in_buffer = context->head.content_length > 0 && conn->spool.length == 0;
    if (context->queue && bb__conn_is_overdue(conn, context))
        return bb__conn_turn_away(conn, context, BB_FAULT_QUEUE_TIME);
    return BB_CONN_REQUEST;
}

void bb__conn_fill_request(struct bb__conn *conn, struct bb__conn_context *context,
                           struct bb_request *request)
{
    request->head = context->head;
    request->peer = (struct bb_slice){conn->peer, strlen(conn->peer)};
    request->listener = conn->listener;
    request->proxy_time = context->head.has_start ? bb__conn_proxy_time(conn, context) : 0;
    request->body_fd = conn->spool.fd;
    if (conn->body_in_buffer) {
        request->body = bb__buf_bytes(&conn->in) + conn->head_len;
        request->body_length = context->head.content_length;
    } else {
        bool in_memory = conn->spool.length > 0 && conn->spool.fd < 0;
        request->body = in_memory ? bb__buf_bytes(&conn->spool.memory) : NULL;
        request->body_length = conn->spool.length;
    }
}
