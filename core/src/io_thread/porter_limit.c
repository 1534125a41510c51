/* porter_limit.c: what the porter does when the host has had a request for too long. At the soft limit the
 * host is told, which may end the request as it knows how. At the hard one the client gets its answer, and
 * the host is told again; what hangs there is not the core's to end. See porter_work.h. */
#include "http/h1_reply.h"
#include "io_thread/porter_work.h"
#include "system/access_log.h"

#include <sys/socket.h>

/* ms, when it has had so much time, without that for which it has waited for its client; UINT64_MAX: never,
 * or it is known. */
static uint64_t end_of(const struct bb_lane *lane, uint64_t limit, bool known)
{
    if (limit == 0 || known || !lane->minded.has_request || atomic_load(&lane->reply.waits))
        return UINT64_MAX;
    uint64_t extra = lane->extended.word == lane->minded.word ? lane->extended.ms : 0;
    return lane->minded.since / 1000 + limit + extra + atomic_load(&lane->reply.waited);
}

static uint64_t soft_end(const struct bb_lane *lane)
{
    return end_of(lane, lane->worker->settings.request_timeout_soft, lane->minded.warned);
}

static uint64_t hard_end(const struct bb_lane *lane)
{
    return end_of(lane, lane->worker->settings.request_timeout, lane->minded.overdue);
}

static uint64_t label_due(const struct bb_lane *lane)
{
    return lane->intake.line ? end_of(lane, bb__porter_watch_time(lane->worker), lane->minded.labelled)
                             : UINT64_MAX;
}

uint64_t bb__porter_until(struct bb__porter *porter, const struct bb_lane *lane)
{
    pthread_mutex_lock(&porter->link.time_lock);
    uint64_t limit = bb__sooner(label_due(lane), bb__sooner(soft_end(lane), hard_end(lane)));
    pthread_mutex_unlock(&porter->link.time_lock);
    uint64_t due = bb__sooner(lane->minded.due, limit);
    return bb__porter_minds_reader(lane) ? bb__sooner(due, bb__clock_ms() + BB_READERS_LOOK) : due;
}

/* us, since the request of the host had come. */
static uint64_t duration_of(const struct bb_lane *lane)
{
    return bb__clock_us() - lane->minded.since + lane->request.queue_time;
}

/* As much of it as the socket takes: it has taken nothing of this answer yet. */
static void answer(struct bb__porter *porter, const struct bb_lane *lane)
{
    struct bb__conn_context *context = &porter->context;
    struct bb__conn *conn = lane->current;
    const struct bb__h1_error error = {.status = 504, .head_method = conn->head_method};
    struct bb__buf out = {0};
    size_t sent;
    if (context->log) bb__conn_log_overdue(conn, context, &error, &lane->request, duration_of(lane));
    if (bb__h1_reply_error(&out, &error, &context->date, context->settings->server_name) == BB_OK)
        (void)bb__sock_send(conn->fd, bb__buf_bytes(&out), bb__buf_len(&out), &sent);
    bb__buf_free(&out);
    bb__sock_end_sending(conn->fd);
}

/* What was sent is not whole, and its client can tell. */
static void cut(struct bb__conn *conn)
{
    (void)shutdown(conn->fd, SHUT_RDWR);
}

static void tell(struct bb__porter *porter, const struct bb__conn *conn, enum bb__answer now)
{
    static const char *const texts[] = {
        [BB_ANSWER_TAKEN] = "the application has not answered within RequestTimeout",
        [BB_ANSWER_CUT] = "the application has not finished its answer within RequestTimeout: cut",
        [BB_ANSWER_ENDED] = "the application has answered, but is still busy after RequestTimeout",
    };
    struct bb_worker *worker = porter->worker;
    bb__news_add(&porter->context.news, now == BB_ANSWER_TAKEN ? 504 : 0, 0, texts[now], conn->peer);
    bb__worker_give_news(worker, &porter->context.news);
    atomic_store(&worker->overdue, BB_OVERDUE_NEW);
    bb__event_raise(worker->alarm_fd);
    porter->found_overdue = true;
}

/* What has become of the answer: the porter's now, unless it is whole. */
static enum bb__answer take(struct bb_lane *lane)
{
    unsigned found = BB_ANSWER_OPEN;
    if (atomic_compare_exchange_strong(&lane->answer, &found, BB_ANSWER_TAKEN)) return BB_ANSWER_TAKEN;
    if (found == BB_ANSWER_SENT && atomic_compare_exchange_strong(&lane->answer, &found, BB_ANSWER_CUT))
        return BB_ANSWER_CUT;
    return BB_ANSWER_ENDED;
}

/* Whether it has had all of its time. */
static bool note_limits(struct bb__porter *porter, struct bb_lane *lane)
{
    uint64_t time = porter->context.now;
    pthread_mutex_lock(&porter->link.time_lock);
    bool soft = time >= soft_end(lane), hard = time >= hard_end(lane), labels = time >= label_due(lane);
    if (soft) lane->minded.warned = lane->minded.late = true;
    if (hard) lane->minded.overdue = lane->minded.untold = true;
    pthread_mutex_unlock(&porter->link.time_lock);
    if (soft) bb__event_raise(lane->worker->alarm_fd);
    if (labels) bb__board_label(lane->intake.line, lane->request.head.method, lane->request.head.path);
    lane->minded.labelled = lane->minded.labelled || labels;
    return hard;
}

void bb__porter_limit(struct bb__porter *porter, struct bb_lane *lane)
{
    if (!note_limits(porter, lane)) return;
    enum bb__answer now = take(lane);
    if (now == BB_ANSWER_TAKEN) answer(porter, lane);
    if (now == BB_ANSWER_CUT) cut(lane->current);
    tell(porter, lane->current, now);
}

/* ---- all of them ---- */

static bool hangs(struct bb_lane *lane)
{
    unsigned word = bb__own_look(&lane->own);
    enum bb__own_state state = bb__own_state_of(word);
    return lane->minded.overdue && lane->minded.word == bb__own_with_state(word, BB_OWN_BUSY) &&
           (state == BB_OWN_WORK || state == BB_OWN_HELD);
}

static bool all_hang(const struct bb_worker *worker)
{
    for (struct bb_lane *lane = bb__first_lane(worker); lane; lane = bb__next_lane(lane))
        if (!hangs(lane)) return false;
    return worker->lanes;
}

/* Beside one connection of each lane. */
static bool has_others(struct bb_worker *worker)
{
    return atomic_load(&worker->connections) > atomic_load(&worker->lane_count) ||
           bb__worker_has_queued(worker);
}

/* A worker that nobody replaces waits for its hosts: they may come back. */
void bb__porter_mind_overdue(struct bb__porter *porter)
{
    struct bb_worker *worker = porter->worker;
    if (worker->tell_fd < 0) return;
    bool before = atomic_load(&worker->stuck), now = all_hang(worker);
    atomic_store(&worker->stuck, now);
    if (porter->found_overdue) bb__worker_tell_parent(worker, now ? BB_TELL_STUCK : BB_TELL_OVERDUE);
    porter->found_overdue = false;
    if (!now) porter->emptied = false;
    if (!now || porter->emptied) return;
    if (!before && !bb__worker_drains(worker)) bb_worker_drain(worker, BB_QUEUE_LEAVE);
    porter->emptied = !has_others(worker) && atomic_load(&worker->overdue) == BB_OVERDUE_LOGGED;
    if (porter->emptied) bb__worker_tell_parent(worker, BB_TELL_EMPTIED);
}
