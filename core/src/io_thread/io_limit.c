/* io_limit.c: what the I/O thread does if the request of a lane takes too long. At the soft limit
 * (request_timeout_soft) the I/O thread informs the host (the program that calls the core: Ruby), which can
 * end the request. At the hard limit (request_timeout) the client gets a 504, and the I/O thread informs the
 * host again. The core cannot end a host thread that hangs. See io_work.h. */
#include "http/h1_reply.h"
#include "io_thread/io_work.h"
#include "system/access_log.h"

#include <sys/socket.h>

/* Returns the time (ms) when the request reaches the limit. Time in which the lane waits for the client does
 * not count. Returns UINT64_MAX if there is no limit or no request, if the lane waits for the client now, or
 * if the I/O thread has already noted that the request is past the limit (known). */
static uint64_t end_of(const struct bb_lane *lane, uint64_t limit, bool known)
{
    if (limit == 0 || known || !lane->watched.has_request || atomic_load(&lane->reply.waits) ||
        atomic_load(&lane->reply.receives) || atomic_load(&lane->reply.untimed))
        return UINT64_MAX;
    uint64_t extra = lane->extended.word == lane->watched.word ? lane->extended.ms : 0;
    uint64_t waited = atomic_load(&lane->reply.waited) + atomic_load(&lane->reply.received_for);
    return lane->watched.since / 1000 + limit + extra + waited;
}

static uint64_t soft_end(const struct bb_lane *lane)
{
    return end_of(lane, lane->worker->settings.request_timeout_soft, lane->watched.warned);
}

static uint64_t hard_end(const struct bb_lane *lane)
{
    return end_of(lane, lane->worker->settings.request_timeout, lane->watched.overdue);
}

static uint64_t label_due(const struct bb_lane *lane)
{
    return lane->intake.slot ? end_of(lane, bb__io_watch_time(lane->worker), lane->watched.labelled)
                             : UINT64_MAX;
}

/* Whether a limit will apply later, although none applies now, because the lane waits for the client. The
 * lane does not wake the I/O thread at the end of each wait. */
static bool has_limit_later(const struct bb_lane *lane)
{
    const struct bb_settings *settings = &lane->worker->settings;
    return lane->watched.has_request && !atomic_load(&lane->reply.untimed) &&
           ((settings->request_timeout > 0 && !lane->watched.overdue) ||
            (settings->request_timeout_soft > 0 && !lane->watched.warned));
}

uint64_t bb__io_until(struct bb__io_thread *io, const struct bb_lane *lane)
{
    pthread_mutex_lock(&io->link.time_lock);
    uint64_t limit = bb__sooner(soft_end(lane), hard_end(lane)), label = label_due(lane);
    bool looks_again = limit == UINT64_MAX && has_limit_later(lane);
    pthread_mutex_unlock(&io->link.time_lock);
    uint64_t due = bb__sooner(lane->watched.due, bb__sooner(label, limit));
    looks_again = looks_again || bb__io_watches_reader(lane);
    return looks_again ? bb__sooner(due, bb__clock_ms() + BB_READERS_LOOK) : due;
}

/* Returns the request's time in the queue plus its time with the host, in us. */
static uint64_t duration_of(const struct bb_lane *lane)
{
    return bb__elapsed(bb__clock_us(), lane->watched.since) + lane->request.queue_time;
}

/* Sends the 504. Bytes that the socket does not take are lost. The lane has sent no byte of its response. */
static void respond(struct bb__io_thread *io, const struct bb_lane *lane)
{
    struct bb__conn_context *context = &io->context;
    struct bb__conn *conn = lane->current;
    const struct bb__h1_error error = {
        .status = 504, .reason = BB_REASON_REQUEST_TIMEOUT, .head_method = conn->head_method};
    struct bb__buf out = {0};
    size_t sent;
    bb__count(&context->counts, BB_COUNT_RESPONSES_5XX, 1);
    bb__count_rejection(&context->counts, bb__reasons[BB_REASON_REQUEST_TIMEOUT].name);
    if (context->log) bb__conn_log_overdue(conn, context, &error, &lane->request, duration_of(lane));
    if (bb__h1_reply_error(&out, &error, &context->date, context->settings->server_name) == BB_OK)
        (void)bb__sock_send(conn->fd, bb__buf_bytes(&out), bb__buf_len(&out), &sent);
    bb__buf_free(&out);
    bb__sock_end_sending(conn->fd);
}

/* Called if a part of the response was sent. The shutdown shows the client that the rest is missing. */
static void cut(const struct bb__io_thread *io, struct bb__conn *conn)
{
    bb__count(&io->context.counts, BB_COUNT_ABORTED, 1);
    (void)shutdown(conn->fd, SHUT_RDWR);
}

static void tell(struct bb__io_thread *io, const struct bb__conn *conn, enum bb__response_state now)
{
    const char *const texts[] = {
        [BB_RESPONSE_BY_IO] = bb__reasons[BB_REASON_REQUEST_TIMEOUT].text,
        [BB_RESPONSE_CUT] =
            "the application has not finished its response within request_timeout: the connection is closed",
        [BB_RESPONSE_ENDED] = "the application has answered, but is still busy after request_timeout",
    };
    struct bb_worker *worker = io->worker;
    bb__event_add(&io->context.events, now == BB_RESPONSE_BY_IO ? 504 : 0, 0, texts[now], conn->peer.address);
    bb__worker_give_events(worker, &io->context.events);
    atomic_store(&worker->limits.overdue, BB_OVERDUE_NEW);
    bb__wakeup_raise(&worker->limits.alarm);
    io->found_overdue = true;
}

/* Stops the lane from sending more of its response, unless the whole response was sent. */
static enum bb__response_state take(struct bb_lane *lane)
{
    unsigned found = BB_RESPONSE_OPEN;
    if (atomic_compare_exchange_strong(&lane->response, &found, BB_RESPONSE_BY_IO)) return BB_RESPONSE_BY_IO;
    if (found == BB_RESPONSE_SENT && atomic_compare_exchange_strong(&lane->response, &found, BB_RESPONSE_CUT))
        return BB_RESPONSE_CUT;
    return BB_RESPONSE_ENDED;
}

/* Notes which limits the request has passed. Returns whether it is past the hard limit. */
static bool note_limits(struct bb__io_thread *io, struct bb_lane *lane)
{
    uint64_t time = io->context.now;
    pthread_mutex_lock(&io->link.time_lock);
    bool soft = time >= soft_end(lane), hard = time >= hard_end(lane), labels = time >= label_due(lane);
    if (soft) lane->watched.warned = lane->watched.late = true;
    if (hard) lane->watched.overdue = lane->watched.untold = true;
    pthread_mutex_unlock(&io->link.time_lock);
    if (soft) bb__wakeup_raise(&lane->worker->limits.alarm);
    if (labels) bb__scoreboard_label(lane->intake.slot, lane->request.head.method, lane->request.head.path);
    lane->watched.labelled = lane->watched.labelled || labels;
    return hard;
}

void bb__io_limit(struct bb__io_thread *io, struct bb_lane *lane)
{
    if (!note_limits(io, lane)) return;
    enum bb__response_state now = take(lane);
    if (now == BB_RESPONSE_BY_IO) respond(io, lane);
    if (now == BB_RESPONSE_CUT) cut(io, lane->current);
    if (now != BB_RESPONSE_ENDED) {
        bb__lane_note_error(lane);
        bb__count_times(&io->context.counts, lane->request.queue_time,
                        bb__elapsed(bb__clock_us(), lane->watched.since));
    }
    tell(io, lane->current, now);
}

/* ---- when all lanes hang ---- */

static bool hangs(struct bb_lane *lane)
{
    unsigned word = bb__owner_look(&lane->owner);
    enum bb__owner_state state = bb__owner_state_of(word);
    return lane->watched.overdue && lane->watched.word == bb__owner_with_state(word, BB_OWNER_BUSY) &&
           (state == BB_OWNER_WORKING || state == BB_OWNER_PARKED);
}

static bool all_hang(const struct bb_worker *worker)
{
    for (struct bb_lane *lane = bb__first_lane(worker); lane; lane = bb__next_lane(lane))
        if (!hangs(lane)) return false;
    return worker->lanes;
}

static bool has_others(struct bb_worker *worker)
{
    return atomic_load(&worker->room.connections) > atomic_load(&worker->lane_count) ||
           bb__worker_has_queued(worker);
}

static bool is_logged(struct bb_worker *worker)
{
    return !worker->parent.host_logs || atomic_load(&worker->limits.overdue) == BB_OVERDUE_LOGGED;
}

/* If there is no parent process, nobody replaces this worker, so the worker does not drain (end gracefully).
 * The host's threads can still finish their requests. */
void bb__io_check_overdue(struct bb__io_thread *io)
{
    struct bb_worker *worker = io->worker;
    if (worker->parent.fd < 0) return;
    bool before = atomic_load(&worker->limits.stuck), now = all_hang(worker);
    atomic_store(&worker->limits.stuck, now);
    if (io->found_overdue) bb__worker_tell_parent(worker, now ? BB_TELL_STUCK : BB_TELL_OVERDUE);
    io->found_overdue = false;
    if (!now) io->emptied = false;
    if (!now || io->emptied) return;
    if (!before && !bb__worker_drains(worker)) bb_worker_drain(worker, BB_QUEUE_LEAVE);
    io->emptied = !has_others(worker) && is_logged(worker);
    if (io->emptied) bb__worker_tell_parent(worker, BB_TELL_EMPTIED);
}
