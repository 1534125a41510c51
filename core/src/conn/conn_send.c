/* conn_send.c: sends response bytes, measures how fast the client takes them, and decides what follows the
 * response. See conn.h. */
#include "conn/conn.h"

/* `out` is filled from the response spool at most this many times in a row. Then other connections come
 * first. */
#define WINDOWS_MAX 4

static int send_out(struct bb__conn *conn)
{
    while (bb__buf_len(&conn->out) > 0) {
        size_t sent, len = bb__buf_len(&conn->out);
        const char *bytes = bb__buf_bytes(&conn->out);
        int code = conn->file ? bb__sock_send_more(conn->fd, bytes, len, &sent)
                              : bb__sock_send(conn->fd, bytes, len, &sent);
        if (code != BB_OK) return code;
        bb__response_spool_consume(&conn->response_spool, &conn->out, sent);
    }
    return BB_OK;
}

void bb__conn_count_memory(struct bb__conn *conn, struct bb__conn_context *context)
{
    size_t held =
        bb__buf_len(&conn->out) + bb__buf_len(&conn->response_spool.tail) + bb__conn_file_held(conn);
    atomic_fetch_add_explicit(&context->spool_budget->unsent, (uint64_t)held - conn->unsent.counted,
                              memory_order_relaxed);
    conn->unsent.counted = held;
}

static uint64_t untaken(const struct bb__conn *conn)
{
    int bytes = bb__sock_untaken(conn->fd);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

void bb__conn_note_owed(struct bb__conn *conn, struct bb__conn_context *context, uint64_t more)
{
    if (!bb__conn_has_unsent(conn)) {
        conn->unsent.since = bb__clock_ms();
        conn->unsent.owed = untaken(conn);
    }
    conn->unsent.owed += more;
    bb__conn_count_memory(conn, context);
}

/* Returns how many bytes the client has taken since unsent.since. For a unix socket the result may be too
 * low, because the kernel's count of untaken bytes includes the kernel's overhead. */
static uint64_t taken(const struct bb__conn *conn)
{
    uint64_t left = bb__conn_unsent(conn) + untaken(conn);
    return conn->unsent.owed > left ? conn->unsent.owed - left : 0;
}

uint64_t bb__conn_taking_rate(const struct bb__conn *conn, uint64_t now)
{
    return bb__rate_of(taken(conn), bb__elapsed(now, conn->unsent.since));
}

bool bb__conn_takes_too_slowly(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    uint64_t time = bb__elapsed(context->now, conn->unsent.since);
    if (!bb__conn_has_unsent(conn) || time <= BB_RATE_AFTER) return false; /* taken() makes a system call */
    return bb__rate_is_too_low(taken(conn), time, context->settings);
}

static int flush(struct bb__conn *conn, struct bb__conn_context *context)
{
    int code = send_out(conn);
    for (int windows = 0; code == BB_OK && bb__response_spool_len(&conn->response_spool) > 0; windows++) {
        if (bb__response_spool_take(&conn->response_spool, &conn->out) != BB_OK) return BB_EGONE;
        code = windows < WINDOWS_MAX ? send_out(conn) : BB_AGAIN;
    }
    if (code == BB_OK && conn->file) code = bb__conn_file_send(conn, context);
    return code;
}

int bb__conn_flush(struct bb__conn *conn, struct bb__conn_context *context)
{
    int code = flush(conn, context);
    if (code == BB_AGAIN && bb__spool_memory_is_full(context->spool_budget)) {
        bb__response_spool_put_back(&conn->response_spool, &conn->out);
        bb__conn_file_put_back(conn);
    }
    if (code == BB_AGAIN && !bb__conn_has_unsent(conn))
        bb__conn_note_owed(conn, context, bb__conn_unsent(conn));
    if (code == BB_OK) {
        bb__buf_free(&conn->out);
        bb__response_spool_drop(&conn->response_spool);
        conn->unsent.since = 0;
    }
    bb__conn_count_memory(conn, context);
    if (code != BB_OK) return code;
    if (conn->state == BB_CONN_BODY) conn->want = BB_INTEREST_READ;
    return BB_OK;
}

enum bb__conn_next bb__conn_await_taking(struct bb__conn *conn, struct bb__conn_context *context)
{
    bool disk = bb__conn_waits_for_disk(conn);
    conn->state = BB_CONN_FLUSH;
    conn->want = disk ? BB_INTEREST_NONE : BB_INTEREST_WRITE;
    conn->unsent.untaken = bb__sock_untaken(conn->fd);
    conn->unsent.progress = context->now;
    bb__timeout_set(context->timeouts, &conn->timeout, disk ? BB_TIMEOUT_DISK : BB_TIMEOUT_WRITE,
                    context->now);
    return BB_CONN_WAIT;
}

/* The kernel reports a socket as writable only when much of its send buffer is free, perhaps megabytes. A
 * slow client may need longer than write_timeout for this. So this function uses the kernel's count of
 * untaken bytes. */
bool bb__conn_check_taking(struct bb__conn *conn, struct bb__conn_context *context)
{
    uint64_t limit = context->settings->write_timeout;
    if (bb__sock_untaken(conn->fd) < conn->unsent.untaken) {
        (void)bb__conn_await_taking(conn, context);
        return true;
    }
    if (limit > 0 && bb__elapsed(context->now, conn->unsent.progress) >= limit) return false;
    bb__timeout_set(context->timeouts, &conn->timeout, BB_TIMEOUT_WRITE, context->now);
    return true;
}

static void keep_lingering(struct bb__conn *conn, struct bb__conn_context *context)
{
    conn->unsent.untaken = bb__sock_untaken(conn->fd);
    bb__timeout_set(context->timeouts, &conn->timeout, BB_TIMEOUT_LINGER, context->now);
}

enum bb__conn_next bb__conn_linger(struct bb__conn *conn, struct bb__conn_context *context)
{
    bb__sock_end_sending(conn->fd);
    bb__buf_pool_put(&context->buf_pool, &conn->in);
    conn->state = BB_CONN_LINGER;
    conn->want = BB_INTEREST_READ;
    conn->linger_began = context->now;
    keep_lingering(conn, context);
    return BB_CONN_WAIT;
}

/* LINGER lasts while the client sends or takes bytes, because after close() the client might not be able to
 * read the rest of the response. */
enum bb__conn_next bb__conn_on_lingering(struct bb__conn *conn, struct bb__conn_context *context)
{
    size_t got;
    int code = bb__sock_recv(conn->fd, context->scratch, BB_SCRATCH_SIZE, &got);
    if (code != BB_OK && code != BB_AGAIN) return BB_CONN_CLOSE;
    bool alive = code == BB_OK || bb__sock_untaken(conn->fd) < conn->unsent.untaken;
    uint64_t longest = conn->linger_began + BB_LINGER_MAX - BB_LINGER_TIME;
    if (alive && context->now <= longest && !context->draining) keep_lingering(conn, context);
    return BB_CONN_WAIT;
}

/* A client that has asked for "Connection: close" may still send bytes, for example an empty line. If the
 * kernel has unread bytes, close() resets the connection, and the unsent rest of the response is lost. After
 * one small send this check is not worth a system call. */
static bool has_to_linger(const struct bb__conn *conn)
{
    return conn->linger || (conn->tcp && conn->large && bb__sock_untaken(conn->fd) != 0);
}

enum bb__conn_next bb__conn_after_response(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (!conn->keep_alive) return has_to_linger(conn) ? bb__conn_linger(conn, context) : BB_CONN_CLOSE;

    conn->state = BB_CONN_HEAD;
    conn->want = BB_INTEREST_READ;
    /* The wait of a pipelined request begins now, because responses are sent in order (RFC 9112 9.3.2). An
     * idle connection does not wait. */
    conn->wait.ready_at = 0;
    if (bb__buf_len(&conn->in) > 0) {
        bb__timeout_clear(context->timeouts, &conn->timeout);
        return BB_CONN_AGAIN;
    }
    bb__buf_pool_put(&context->buf_pool, &conn->in);
    bb__timeout_set(context->timeouts, &conn->timeout, BB_TIMEOUT_KEEPALIVE, context->now);
    return BB_CONN_WAIT;
}

enum bb__conn_next bb__conn_response_done(struct bb__conn *conn, struct bb__conn_context *context)
{
    size_t used = conn->head.len;
    if (conn->body_in_buffer) used += context->head.content_length;
    bb__buf_consume(&conn->in, used);
    if (conn->unbuffered) bb__conn_end_unbuffered(conn);
    conn->body_in_buffer = false;
    conn->head.seen = 0;
    conn->head_method = false;
    if (conn->spool.length > 0) bb__spool_drop(&conn->spool, context->spool_budget);

    /* A client that expects keep-alive may be sending its next request. A client that has sent a body may
     * send an empty line after the body. In both cases, closing at once could reset the connection before the
     * client has read the response (RFC 9112 9.6). */
    conn->linger = context->head.keep_alive || context->head.chunked || context->head.has_length ||
                   bb__buf_len(&conn->in) > 0;
    if (!bb__conn_has_unsent(conn)) return bb__conn_after_response(conn, context);
    return bb__conn_await_taking(conn, context);
}

int bb__conn_say_continue(struct bb__conn *conn, struct bb__conn_context *context)
{
    static const char interim[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (bb__buf_append(&conn->out, interim, sizeof interim - 1) != BB_OK) return BB_EGONE;
    bb__count(&context->counts, BB_COUNT_RESPONSES_1XX, 1);
    int code = bb__conn_flush(conn, context);
    conn->want = code == BB_AGAIN ? BB_INTEREST_READ | BB_INTEREST_WRITE : BB_INTEREST_READ;
    return code == BB_EGONE ? BB_EGONE : BB_OK;
}
