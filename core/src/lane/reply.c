/* reply.c: sends the response to the current request of a lane. The bytes from the encoder (h1_reply.h) go to
 * the socket. Bytes that the socket does not take are kept in the connection. If there is no room for these
 * bytes, reply_wait.c waits. See bontebok.h for the contracts. */
#include "lane/lane.h"

#include <string.h>

/* Bytes. Up to this size, copying into one send is cheaper than a sendmsg of several buffers. */
#define STAGED_MAX (16 * 1024)
/* Bytes. A larger buffer is freed after the response. */
#define STAGED_KEPT (64 * 1024)
/* Limits of one call to the socket. */
#define RUN_BYTES (256 * 1024)
#define RUN_SPANS 64

/* ---- the head ---- */

static bool may_keep_alive(const struct bb_lane *lane)
{
    const struct bb_settings *settings = &lane->worker->settings;
    if (bb__worker_is_last(lane->worker) || bb__scoreboard_is_draining(lane->worker->scoreboard))
        return false;
    if (lane->current->unbuffered && !bb__conn_has_read_body(lane->current)) return false;
    if (settings->keepalive_timeout == 0 || lane->context.now < lane->context.crowded_until) return false;
    return settings->max_keepalive_requests == 0 || lane->current->served < settings->max_keepalive_requests;
}

int bb_reply_begin(struct bb_lane *lane, int status)
{
    struct bb__conn *conn = bb__lane_current(lane);
    if (!conn || lane->reply.sent) return BB_EGONE;
    lane->reply.ended = false;
    lane->reply.failed = BB_OK;
    lane->reply.body_length = 0;
    struct bb__h1_reply *encoder = &lane->reply.encoder;
    encoder->head_method = conn->head_method;
    encoder->minor_version = lane->request.head.minor_version;
    encoder->chunked_transfer = lane->worker->settings.chunked_transfer != 0;
    encoder->keep_alive = lane->request.head.keep_alive && may_keep_alive(lane);
    if (status >= 500) bb__lane_note_error(lane);
    return bb__h1_reply_start(encoder, &lane->reply.staged, status);
}

int bb_reply_field(struct bb_lane *lane, const char *name, size_t name_len, const char *value,
                   size_t value_len)
{
    return bb__h1_reply_field(&lane->reply.encoder, &lane->reply.staged, name, name_len, value, value_len);
}

int bb_reply_head(struct bb_lane *lane, uint64_t body_length)
{
    int code = bb__h1_reply_head(&lane->reply.encoder, &lane->reply.staged, body_length, &lane->context.date,
                                 lane->worker->settings.server_name);
    if (lane->context.log && code == BB_OK) bb__lane_log_head(lane);
    return code;
}

bool bb_reply_has_length(const struct bb_lane *lane)
{
    return lane->reply.encoder.has_length;
}

bool bb_reply_bodyless(const struct bb_lane *lane)
{
    return lane->reply.encoder.framing == BB_FRAMING_NONE;
}

bool bb_reply_sent(const struct bb_lane *lane)
{
    return lane->reply.sent;
}

/* ---- the body ---- */

/* The head and small parts of the body are collected in one buffer, lane->reply.staged. A run is a list of
 * spans (buffers) that are sent after these staged bytes. The spans point into the host's parts of the body,
 * so they are valid during one call of bb_reply_write() only. */
struct run {
    struct iovec spans[1 + RUN_SPANS]; /* [0] is for the staged bytes */
    char chunk_heads[RUN_SPANS][BB_CHUNK_HEAD_MAX];
    size_t count, chunk_head_count, bytes;
};

/* Keeps unsent bytes. They go to the response spool if the spool has bytes already, if memory is full, or if
 * the client is slow and has too many bytes in memory. Otherwise they stay in memory. */
static int keep_unsent(struct bb_lane *lane, const struct run *run, size_t sent)
{
    struct bb__conn *conn = lane->current;
    struct bb__conn_context *context = &lane->context;
    bool spools = bb__response_spool_len(&conn->response_spool) > 0 ||
                  bb__spool_memory_is_full(context->spool_budget) ||
                  (lane->reply.spools && bb__conn_is_behind(conn, context));
    uint64_t before = bb__conn_unsent(conn);
    for (size_t i = 0; i <= run->count; i++) {
        const struct iovec *span = &run->spans[i];
        size_t skip = sent < span->iov_len ? sent : span->iov_len;
        sent -= skip;
        const char *at = (const char *)span->iov_base + skip;
        size_t len = span->iov_len - skip;
        int code = spools ? bb__response_spool_append(&conn->response_spool, context->spool_budget, at, len)
                          : bb__buf_append(&conn->out, at, len);
        if (code != BB_OK) return code;
    }
    bb__conn_note_owed(conn, context, bb__conn_unsent(conn) - before);
    return BB_OK;
}

/* Over TCP the FIN is sent with the last bytes. This saves a segment, which is a fifth of the cost of a short
 * request. */
static bool ends_with_staged(const struct bb_lane *lane)
{
    const struct bb__lane_reply *reply = &lane->reply;
    return lane->current->tcp && reply->ended && reply->ended_as == BB_OK && !reply->encoder.keep_alive;
}

static int send_staged(struct bb_lane *lane, size_t *sent)
{
    int fd = lane->current->fd;
    const char *bytes = bb__buf_bytes(&lane->reply.staged);
    size_t len = bb__buf_len(&lane->reply.staged);
    return ends_with_staged(lane) ? bb__sock_send_last(fd, bytes, len, sent)
                                  : bb__sock_send(fd, bytes, len, sent);
}

/* Sends the staged bytes and the run. The connection keeps the bytes that the socket does not take. */
static int send_run(struct bb_lane *lane, struct run *run)
{
    struct bb__conn *conn = lane->current;
    struct bb__buf *staged = &lane->reply.staged;
    size_t sent = 0, total = bb__buf_len(staged) + run->bytes;
    int code = BB_AGAIN;

    if ((!lane->reply.sent || lane->reply.ended) && !bb__lane_may_send(lane)) return BB_EGONE;
    conn->large = lane->reply.sent || total > STAGED_MAX;
    run->spans[0] = (struct iovec){bb__buf_bytes(staged), bb__buf_len(staged)};
    if (!lane->reply.sent && !lane->reply.ended) bb__lane_hold(lane, BB_HELD_STREAM);
    lane->reply.sent = true;
    if (!bb__conn_has_unsent(conn)) {
        code = run->count == 0 ? send_staged(lane, &sent)
                               : bb__sock_send_parts(conn->fd, run->spans, run->count + 1, &sent);
        if (code == BB_EGONE) return code;
        lane->reply.given += (int64_t)sent;
    }
    if (sent < total) {
        if (sent > 0 || !bb__conn_has_unsent(conn)) bb__reply_note_progress(lane);
        code = keep_unsent(lane, run, sent);
        if (code != BB_OK) return code;
    }
    bb__buf_clear(staged);
    lane->reply.gather.since = 0;
    run->count = run->chunk_head_count = run->bytes = 0;
    return BB_OK;
}

/* Copies a small span into the staged bytes while the run is empty. Otherwise the run points to the span. */
static int add_span(struct bb_lane *lane, struct run *run, const struct bb_slice *span)
{
    struct bb__buf *staged = &lane->reply.staged;
    if (run->count == 0 && bb__buf_len(staged) + span->len <= STAGED_MAX)
        return bb__buf_append(staged, span->at, span->len);
    run->spans[++run->count] = (struct iovec){(void *)span->at, span->len};
    run->bytes += span->len;
    return BB_OK;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Lets the encoder frame the first bytes of a part, and adds the result to the run. *used: how many bytes of
 * the part the encoder has used. */
static int add_piece(struct bb_lane *lane, struct run *run, const char *at, size_t len, size_t *used)
{
    struct bb_slice spans[BB_PART_SPANS];
    unsigned count = bb__h1_reply_part(&lane->reply.encoder, at, smaller(len, RUN_BYTES - run->bytes),
                                       run->chunk_heads[run->chunk_head_count++], spans, used);
    if (count == 0 && *used == 0) return BB_ECHUNKS;
    for (unsigned i = 0; i < count; i++) {
        int code = add_span(lane, run, &spans[i]);
        if (code != BB_OK) return code;
    }
    return BB_OK;
}

static bool run_is_full(const struct run *run)
{
    return run->bytes >= RUN_BYTES || run->count + BB_PART_SPANS + 1 > RUN_SPANS ||
           run->chunk_head_count == RUN_SPANS;
}

/* Sends the run. Then sends the bytes that the connection keeps, until the socket takes no more. */
static int make_way(struct bb_lane *lane, struct run *run)
{
    int code = send_run(lane, run);
    return code == BB_OK ? bb__reply_flush_pending(lane) : code;
}

static uint64_t bytes_of(const struct bb_slice *parts, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += parts[i].len;
    return bytes;
}

/* Whether the lane must wait before it copies more. rest: bytes of the host's parts that are not sent or
 * copied yet. If the rest does not fit into memory, none of it is copied. */
static bool has_to_wait(const struct bb_lane *lane, uint64_t rest)
{
    const struct bb__conn *conn = lane->current;
    if (lane->reply.spools) return bb__response_spool_is_full(&conn->response_spool);
    return rest > lane->worker->settings.response_buffer || bb__conn_is_behind(conn, &lane->context);
}

/* Whether the host has written the whole body, but neither memory nor the spool has room for the unsent
 * bytes. */
static bool has_to_wait_at_the_end(const struct bb_lane *lane)
{
    return bb__conn_has_unsent(lane->current) && bb__response_spool_is_full(&lane->current->response_spool) &&
           bb__spool_memory_is_full(lane->context.spool_budget);
}

static int add_end(struct bb_lane *lane, struct run *run)
{
    struct bb_slice last;
    lane->reply.ended = true;
    lane->reply.ended_as = bb__h1_reply_end(&lane->reply.encoder, &last);
    return last.len > 0 ? add_span(lane, run, &last) : BB_OK;
}

/* Whether this part is the rest of a body with a Content-Length, and is small. Most bodies are. */
static bool is_small_rest(const struct bb_lane *lane, const struct bb_slice *part)
{
    const struct bb__lane_reply *reply = &lane->reply;
    return reply->encoder.framing == BB_FRAMING_LENGTH && reply->encoder.remaining == part->len &&
           !reply->ended && part->len > 0 && bb__buf_len(&reply->staged) + part->len <= STAGED_MAX &&
           !bb__conn_has_unsent(lane->current);
}

static int write_small_rest(struct bb_lane *lane, const struct bb_slice *part, uint64_t *taken)
{
    struct run run;
    run.count = run.chunk_head_count = run.bytes = 0;
    int code = bb__buf_append(&lane->reply.staged, part->at, part->len);
    if (code != BB_OK) return code;
    *taken = part->len;
    lane->reply.encoder.remaining = 0;
    lane->reply.ended = true;
    lane->reply.ended_as = BB_OK;
    code = send_run(lane, &run);
    return code == BB_OK && has_to_wait_at_the_end(lane) ? BB_AGAIN : code;
}

static int write_parts(struct bb_lane *lane, const struct bb_slice *parts, size_t count, bool last,
                       uint64_t *taken)
{
    struct run run;
    run.count = run.chunk_head_count = run.bytes = 0;
    int code = bb__reply_flush_pending(lane);

    for (size_t i = 0; i < count && code == BB_OK; i++) {
        for (size_t offset = 0, used; offset < parts[i].len; offset += used, *taken += used) {
            if (run_is_full(&run) && (code = make_way(lane, &run)) != BB_OK) return code;
            /* Other lanes may fill the memory at any moment. The pieces of the run count as taken, so they
             * are sent or kept first. */
            if (run.count == 0 && bb__conn_has_unsent(lane->current) &&
                has_to_wait(lane, bytes_of(parts, count) - *taken))
                return BB_AGAIN;
            code = add_piece(lane, &run, parts[i].at + offset, parts[i].len - offset, &used);
            if (code != BB_OK) return code;
        }
    }
    if (code == BB_OK && last && !lane->reply.ended) code = add_end(lane, &run);
    if (code != BB_OK) return code;
    /* At the end of a body there may be nothing to send: a body with a Content-Length has no end marker. */
    if (count > 0 && !last && run.count == 0 && bb__reply_gathers(lane)) return BB_OK;
    if (bb__buf_len(&lane->reply.staged) + run.bytes > 0)
        code = send_run(lane, &run);
    else if (last && !bb__lane_may_send(lane))
        code = BB_EGONE;
    return code == BB_OK && last && has_to_wait_at_the_end(lane) ? BB_AGAIN : code;
}

int bb_reply_write(struct bb_lane *lane, const struct bb_slice *parts, size_t count, bool last,
                   uint64_t *taken)
{
    *taken = 0;
    if (!bb__lane_current(lane)) return BB_EGONE;
    if (lane->reply.failed != BB_OK) return lane->reply.failed;
    bb__reply_stop_gathering(lane);
    int code = count == 1 && last && is_small_rest(lane, parts)
                   ? write_small_rest(lane, parts, taken)
                   : write_parts(lane, parts, count, last, taken);
    if (code < 0) lane->reply.failed = code;
    lane->reply.awaits_room = code == BB_AGAIN;
    lane->reply.body_length += *taken;
    /* Without parts, the host may be about to wait until all is sent. */
    if (code == BB_OK && count > 0 && !last) bb__reply_leave_unsent(lane);
    return code;
}

/* ---- the end ---- */

/* Returns the counter for the response. A hijacked request has no response of the core. */
static enum bb_counter counter_of(const struct bb_lane *lane)
{
    unsigned status = (unsigned)lane->reply.encoder.status;
    return status == 0 ? BB_COUNT_HIJACKED : bb__counter_of_status(status);
}

#define ONLY_BYTES BB_COUNTERS_END

/* Counts a request that has ended. If the response has not begun, the encoder has the state of an earlier
 * one. ONLY_BYTES: the I/O thread has counted it (io_limit.c), or it counts with its error response. */
static void count(struct bb_lane *lane, enum bb_counter counter)
{
    const struct bb__counts *counts = &lane->context.counts;
    const struct bb__unbuffered *body = lane->current->unbuffered;
    if (!counts->metrics) return;
    uint64_t in = body ? body->given : lane->request.body_length;
    uint64_t unsent = bb__conn_file_left(lane->current);
    uint64_t out = lane->reply.sent ? bb__reply_body_length(&lane->reply) - unsent : 0;
    if (in > 0) bb__count(counts, BB_COUNT_BYTES_IN, in);
    if (out > 0) bb__count(counts, BB_COUNT_BYTES_OUT, out);
    if (counter != ONLY_BYTES) bb__count(counts, counter, 1);
    if (counter == ONLY_BYTES && bb__lane_was_ended(lane)) return;
    bb__sample_end(&lane->sample, lane->context.now, lane->handed_out);
}

static void tidy_staged(struct bb_lane *lane)
{
    if (lane->reply.staged.cap > STAGED_KEPT) bb__buf_free(&lane->reply.staged);
}

/* The connection has left the lane (lane_detach.c), so only the lane's part of the request ends. */
static void end_detached(struct bb_lane *lane)
{
    tidy_staged(lane);
    if (lane->context.log) bb__lane_log_end(lane, false);
    lane->context.now = bb__clock_ms();
    (void)bb__lane_stop_sending(lane);
    count(lane, bb__lane_was_ended(lane) ? ONLY_BYTES : counter_of(lane));
    bb__lane_reclaim_set(lane, BB_THEN_FORGET);
}

int bb_reply_end(struct bb_lane *lane)
{
    struct bb__conn *conn = bb__lane_current(lane);
    if (!conn) return BB_EGONE;
    if (lane->reply.detached) {
        end_detached(lane);
        return BB_OK;
    }
    bb__reply_stop_gathering(lane);
    if (!lane->reply.ended || bb__buf_len(&lane->reply.staged) > 0 || lane->reply.failed != BB_OK) {
        uint64_t taken;
        int code = bb_reply_write(lane, NULL, 0, true, &taken);
        if (code < 0) {
            bb_reply_abort(lane);
            return code;
        }
    }
    if (lane->reply.ended_as != BB_OK) {
        bb_reply_abort(lane);
        return lane->reply.ended_as;
    }
    conn->keep_alive = lane->reply.encoder.keep_alive;
    lane->context.now = bb__clock_ms(); /* the client's timeouts begin now */
    tidy_staged(lane);
    if (lane->context.log) bb__lane_log_end(lane, false);
    count(lane, counter_of(lane));
    bb__lane_reclaim_set(lane, BB_THEN_GO_ON);
    return BB_OK;
}

/* Whether the client gets an error response for its unbuffered body. */
static bool has_rejected_body(const struct bb_lane *lane)
{
    const struct bb__unbuffered *body = lane->current->unbuffered;
    return body && body->reason != BB_REASON_NONE && !lane->reply.sent;
}

void bb_reply_abort(struct bb_lane *lane)
{
    if (!bb__lane_current(lane) || lane->turn.then != BB_THEN_NOTHING) return;
    if (lane->reply.detached) {
        end_detached(lane);
        return;
    }
    bb__reply_stop_gathering(lane);
    bb__buf_clear(&lane->reply.staged);
    tidy_staged(lane);
    lane->context.now = bb__clock_ms(); /* as in bb_reply_end() */
    bool answered = !bb__lane_stop_sending(lane), rejects = !answered && has_rejected_body(lane);
    if (lane->context.log && !answered && !rejects) bb__lane_log_end(lane, true);
    count(lane, rejects || bb__lane_was_ended(lane) ? ONLY_BYTES : BB_COUNT_ABORTED);
    lane->reply.sent = true;
    bb__lane_reclaim_set(lane, answered ? BB_THEN_CLOSE : rejects ? BB_THEN_REJECT : BB_THEN_RESET);
}
