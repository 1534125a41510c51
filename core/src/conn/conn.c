/* conn.c: the receiving side of a connection: heads and timeouts. conn_body.c is for bodies. See conn.h for
 * the states. */
#include "conn/conn_body.h"
#include "conn/conn_probe.h"
#include "conn/conn_public.h"

#include <stdlib.h>

void bb__conn_set_durations(struct bb__timeouts *timeouts, const struct bb_settings *settings)
{
    uint64_t body_tick = settings->body_timeout / 4;
    if (settings->body_timeout == 0 || body_tick > BB_BODY_TICK_MAX) body_tick = BB_BODY_TICK_MAX;

    timeouts->kinds[BB_TIMEOUT_FRESH].duration = settings->header_timeout;
    timeouts->kinds[BB_TIMEOUT_HEADER].duration = settings->header_timeout;
    timeouts->kinds[BB_TIMEOUT_BODY].duration = body_tick > 0 ? body_tick : 1;
    timeouts->kinds[BB_TIMEOUT_WRITE].duration = bb__conn_write_tick(settings->write_timeout);
    timeouts->kinds[BB_TIMEOUT_KEEPALIVE].duration = settings->keepalive_timeout;
    timeouts->kinds[BB_TIMEOUT_LINGER].duration = BB_LINGER_TIME;
    timeouts->kinds[BB_TIMEOUT_DISK].duration = BB_DISK_TICK;
}

struct bb__conn *bb__conn_new(int fd, struct bb__conn_context *context)
{
    struct bb__conn *conn = malloc(sizeof *conn);
    if (!conn) return NULL;
    *conn = (struct bb__conn){.source.kind = BB_SOURCE_CONN, .fd = fd, .want = BB_INTEREST_READ};
    bb__spool_start(&conn->spool);
    bb__response_spool_start(&conn->response_spool);
    bb__timeout_set(context->timeouts, &conn->timeout, BB_TIMEOUT_FRESH, context->now);
    return conn;
}

static void end_socket(const struct bb__conn *conn, enum bb__conn_end end)
{
    switch (end) {
    case BB_CONN_END_CLOSE:
        if (conn->moved) bb__sock_shut(conn->fd);
        bb__sock_close(conn->fd);
        break;
    case BB_CONN_END_RESET:
        bb__sock_reset(conn->fd);
        break;
    case BB_CONN_END_ABANDON:
        bb__sock_abandon(conn->fd);
        break;
    }
}

void bb__conn_free(struct bb__conn *conn, struct bb__conn_context *context, enum bb__conn_end end)
{
    bb__timeout_clear(context->timeouts, &conn->timeout);
    bb__spool_drop(&conn->spool, context->spool_budget);
    bb__unbuffered_free(conn->unbuffered);
    bb__buf_pool_put(&context->buf_pool, &conn->in);
    bb__buf_free(&conn->out);
    bb__response_spool_drop(&conn->response_spool);
    bb__conn_file_drop(conn, end == BB_CONN_END_ABANDON ? NULL : context->files);
    if (conn->unsent.counted > 0) bb__conn_count_memory(conn, context);
    end_socket(conn, end);
    free(conn);
}

/* ---- head ---- */

/* Parses the buffer. An incomplete head is parsed again only if its end may have come (bb__head_ended()), or
 * if its size has doubled, because it may now exceed a limit. So a head that comes in small pieces costs
 * O(n). */
static int parse_head(struct bb__conn *conn, struct bb__conn_context *context)
{
    const char *bytes = bb__buf_bytes(&conn->in);
    size_t len = bb__buf_len(&conn->in);
    if (conn->head.seen == 0)
        conn->head.seen = len;
    else if (!bb__head_ended(bytes, len, &conn->head.seen) && len < 2 * conn->head.parsed)
        return BB_AGAIN;
    conn->head.parsed = len;
    return bb__head_parse(bytes, len, &context->head_limits, context->names, context->fields, &context->head,
                          &conn->head.len);
}

bool bb__conn_parse_again(struct bb__conn *conn, struct bb__conn_context *context)
{
    size_t len = conn->head.len > 0 ? conn->head.len : bb__buf_len(&conn->in);
    return bb__head_parse(bb__buf_bytes(&conn->in), len, &context->head_limits, context->names,
                          context->fields, &context->head, &conn->head.len) == BB_OK;
}

/* context->head is the complete head. */
static enum bb__conn_next begin_request(struct bb__conn *conn, struct bb__conn_context *context)
{
    enum bb__conn_next next;
    if (context->files && bb__conn_send_public(conn, context, &next)) return next;
    if (!context->head.chunked && context->head.content_length == 0) return bb__conn_serve(conn, context);
    return bb__conn_begin_body(conn, context);
}

/* The disk may have answered. */
static enum bb__conn_next look_again(struct bb__conn *conn, struct bb__conn_context *context)
{
    enum bb__conn_next next;
    if (!bb__conn_is_answered(conn, context, &next)) return next;
    return bb__conn_parse_again(conn, context) ? begin_request(conn, context) : BB_CONN_CLOSE;
}

enum bb__conn_next bb__conn_advance(struct bb__conn *conn, struct bb__conn_context *context)
{
    int code = parse_head(conn, context);
    if (code == BB_AGAIN) {
        if (conn->timeout.kind != BB_TIMEOUT_HEADER)
            bb__timeout_set(context->timeouts, &conn->timeout, BB_TIMEOUT_HEADER, context->now);
        return BB_CONN_WAIT;
    }
    bb__conn_note_method(conn, context);
    if (code != BB_OK) return bb__conn_reject(conn, context, (enum bb__reason)code, 0);
    if (context->has_probes && bb__conn_is_probe(context)) return bb__conn_answer_probe(conn, context);
    return begin_request(conn, context);
}

/* ---- reading ---- */

static enum bb__conn_next read_head(struct bb__conn *conn, struct bb__conn_context *context)
{
    int code = BB_OK;
    if (!conn->in.data)
        code = bb__buf_pool_get(&context->buf_pool, &conn->in);
    else if (bb__buf_room(&conn->in) == 0)
        code = bb__buf_reserve(&conn->in, BB_BUF_POOL_SIZE / 4); /* moves bytes to the front, or grows */
    if (code != BB_OK) return BB_CONN_CLOSE;

    size_t got;
    code = bb__sock_recv(conn->fd, conn->in.data + conn->in.end, bb__buf_room(&conn->in), &got);
    if (code == BB_OK) {
        conn->wait.ready_at = context->read_at;
        conn->in.end += got;
        return bb__conn_advance(conn, context);
    }
    if (code != BB_AGAIN) return BB_CONN_CLOSE;
    if (bb__buf_len(&conn->in) == 0) bb__buf_pool_put(&context->buf_pool, &conn->in);
    return BB_CONN_WAIT;
}

static enum bb__conn_next read_body(struct bb__conn *conn, struct bb__conn_context *context)
{
    enum bb__conn_next next = bb__conn_receive_body(conn, context);
    return next == BB_CONN_REQUEST && !bb__conn_parse_again(conn, context) ? BB_CONN_CLOSE : next;
}

enum bb__conn_next bb__conn_on_ready(struct bb__conn *conn, struct bb__conn_context *context, uint32_t events)
{
    uint64_t owed = bb__conn_has_unsent(conn) ? bb__conn_unsent(conn) : 0;
    if (owed > 0 && (events & (BB_INTEREST_WRITE | BB_INTEREST_TROUBLE))) {
        bool flushing = conn->state == BB_CONN_FLUSH, disk = bb__conn_waits_for_disk(conn);
        uint64_t file = bb__conn_file_left(conn);
        int code = bb__conn_flush(conn, context);
        /* The lane has counted the bytes that left before the request ended. */
        if (flushing && file > 0)
            bb__count(&context->counts, BB_COUNT_BYTES_OUT, file - bb__conn_file_left(conn));
        if (code == BB_EGONE) return BB_CONN_CLOSE;
        disk |= bb__conn_waits_for_disk(conn);
        if (code == BB_AGAIN && flushing && !disk && bb__conn_takes_too_slowly(conn, context))
            return BB_CONN_CLOSE;
        if (code == BB_AGAIN)
            return flushing && (disk || bb__conn_unsent(conn) < owed) ? bb__conn_await_taking(conn, context)
                                                                      : BB_CONN_WAIT;
        if (flushing) return bb__conn_after_response(conn, context);
    }
    switch (conn->state) {
    case BB_CONN_HEAD:
        return read_head(conn, context);
    case BB_CONN_BODY:
        return read_body(conn, context);
    case BB_CONN_LINGER:
        return bb__conn_on_lingering(conn, context);
    case BB_CONN_LOOK:
        return events & BB_INTEREST_TROUBLE ? BB_CONN_CLOSE : BB_CONN_WAIT;
    default:
        return BB_CONN_WAIT;
    }
}

/* Reads all bytes of the head that have come, because the header timeout has expired. The size limits of a
 * head end the loop. */
static enum bb__conn_next read_whole_head(struct bb__conn *conn, struct bb__conn_context *context)
{
    enum bb__conn_next next;
    size_t had;
    do {
        had = bb__buf_len(&conn->in);
        next = read_head(conn, context);
    } while (next == BB_CONN_WAIT && conn->state == BB_CONN_HEAD && bb__buf_len(&conn->in) > had);
    return next;
}

/* The thread may have been busy for longer than the timeout, so input that has come is handled first. */
enum bb__conn_next bb__conn_on_timeout(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (conn->state == BB_CONN_LOOK) return look_again(conn, context);
    bool head_begun = conn->state == BB_CONN_HEAD && bb__buf_len(&conn->in) > 0;
    enum bb__conn_next next = head_begun
                                  ? read_whole_head(conn, context)
                                  : bb__conn_on_ready(conn, context, BB_INTEREST_READ | BB_INTEREST_WRITE);
    if (next != BB_CONN_WAIT) return next;

    /* New bytes do not extend the header timeout. */
    if (head_begun && conn->state == BB_CONN_HEAD)
        return bb__conn_reject(conn, context, BB_REASON_HEADER_TIMEOUT, 0);
    if (conn->timeout.kind != BB_TIMEOUT_NONE) return BB_CONN_WAIT;
    if (conn->state == BB_CONN_BODY) {
        if (bb__conn_sends_too_slowly(conn, context))
            return bb__conn_reject(conn, context, BB_REASON_BODY_TIMEOUT, 0);
        bb__timeout_set(context->timeouts, &conn->timeout, BB_TIMEOUT_BODY, context->now);
        return BB_CONN_WAIT;
    }
    if (conn->state == BB_CONN_FLUSH && bb__conn_check_taking(conn, context)) return BB_CONN_WAIT;
    return BB_CONN_CLOSE; /* the FRESH, KEEPALIVE, LINGER or WRITE timeout has expired */
}
