/* lane.c: one host thread's loop: which connection is served next, and when to wait. See bontebok.h for the
 * contracts.
 *
 * The cheapest path is accept4, recv, parse, (host), send, close: a new connection is read at once and enters
 * the poller only when it has to wait. A kept-alive one stays in the poller, level-triggered, and is never
 * touched between requests. */
#include "lane.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ms: a request that took longer has kept the lane from reading what others sent. */
#define AWAY_TIME 100

/* ---- birth and end ---- */

/* What is counted in 32 bits: nobody wants a limit beyond. */
static uint32_t limit32(uint64_t setting)
{
    return setting < UINT32_MAX ? (uint32_t)setting : UINT32_MAX;
}

static int prepare_context(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    const struct bb_settings *settings = &lane->worker->settings;
    context->settings = settings;
    context->spool_budget = &lane->worker->spool_budget;
    context->head_limits = (struct bb__head_limits){
        .max_target = settings->max_target,
        .max_field_bytes = limit32(settings->max_field_bytes),
        .max_fields = limit32(settings->max_fields),
        .allow_underscores = settings->allow_underscore_headers != 0,
    };
    context->names = bb__names_new();
    context->fields = malloc(context->head_limits.max_fields * sizeof *context->fields);
    context->scratch = malloc(BB_SCRATCH_SIZE);
    context->ports = lane->worker->ports;
    context->now = bb__clock_ms();
    bb__conn_set_durations(context);
    if (lane->worker->log_sink.fd >= 0) {
        context->log = bb__access_log_new(&lane->worker->log_format, &lane->worker->log_sink);
        if (!context->log) return BB_ENOMEM;
    }
    return context->names && context->fields && context->scratch ? BB_OK : BB_ENOMEM;
}

static int prepare_poller(struct bb_lane *lane)
{
    lane->wake_source.kind = BB_SOURCE_WAKE;
    lane->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (lane->wake_fd < 0 || bb__poller_open(&lane->poller) != BB_OK ||
        bb__poller_add(&lane->poller, lane->wake_fd, BB_INTEREST_READ, &lane->wake_source) != BB_OK ||
        bb__poller_add(&lane->poller, lane->worker->drain_fd, BB_INTEREST_READ,
                       &lane->worker->drain_source) != BB_OK)
        return BB_ESYSTEM;
    return BB_OK;
}

int bb_lane_new(struct bb_lane **created, struct bb_worker *worker)
{
    if (bb__worker_is_inert(worker)) return BB_DRAINED;
    struct bb_lane *lane = calloc(1, sizeof *lane);
    if (!lane) return BB_ENOMEM;
    lane->worker = worker;
    lane->wake_fd = lane->poller.fd = -1;
    int code = prepare_context(lane);
    if (code == BB_OK) code = prepare_poller(lane);
    if (code != BB_OK) {
        bb_lane_free(lane);
        return code;
    }
    bb__worker_add_lane(worker, lane);
    bb__lane_listen(lane);
    *created = lane;
    return BB_OK;
}

void bb_lane_free(struct bb_lane *lane)
{
    if (!lane) return;
    bool inert = bb__worker_is_inert(lane->worker);
    bb_lane_step_back(lane);
    if (lane->context.log && !inert) {
        if (lane->current) bb__lane_log_end(lane, true);
        bb__lane_log_flush(lane);
    }
    while (lane->conns) {
        enum bb__conn_end end =
            lane->conns == lane->current ? BB_CONN_END_RESET : bb__conn_end_of(lane->conns);
        bb__lane_close(lane, lane->conns, inert ? BB_CONN_END_ABANDON : end);
    }
    if (lane->listening && !inert) bb__worker_lane_stops(lane->worker);
    if (lane->was_added && !inert) bb__worker_remove_lane(lane->worker, lane);
    bb__poller_close(&lane->poller);
    if (lane->wake_fd >= 0) (void)close(lane->wake_fd);
    bb__buf_free(&lane->reply.staged);
    bb__blocks_free(&lane->context.blocks);
    bb__names_free(lane->context.names);
    bb__access_log_free(lane->context.log);
    free(lane->context.fields);
    free(lane->context.scratch);
    free(lane);
}

/* ---- connections of the lane ---- */

static void push_ready(struct bb_lane *lane, struct bb__conn *conn)
{
    conn->is_ready = true;
    conn->next_ready = NULL;
    if (lane->ready_last)
        lane->ready_last->next_ready = conn;
    else
        lane->ready_first = conn;
    lane->ready_last = conn;
}

static struct bb__conn *pop_ready(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->ready_first;
    lane->ready_first = conn->next_ready;
    if (!lane->ready_first) lane->ready_last = NULL;
    conn->is_ready = false;
    return conn;
}

void bb__lane_close(struct bb_lane *lane, struct bb__conn *conn, enum bb__conn_end end)
{
    /* Closing alone does not take it out of the set while a child that was forked, or is about to exec, holds
     * a duplicate: events would go on coming, for a connection that is freed. In the child the set is the
     * parent's. */
    if (conn->registered && end != BB_CONN_END_ABANDON) bb__poller_remove(&lane->poller, conn->fd);
    /* One with bytes in hand has no deadline and takes no events: nothing but the lane's end closes it. */
    if (lane->current == conn) lane->current = NULL;
    bb__batch_forget(&lane->batch, conn);
    if (conn->previous)
        conn->previous->next = conn->next;
    else
        lane->conns = conn->next;
    if (conn->next) conn->next->previous = conn->previous;
    lane->conn_count--;
    atomic_fetch_sub_explicit(&lane->worker->connections, 1, memory_order_relaxed);
    bb__conn_free(conn, &lane->context, end);
    bb__lane_has_room(lane);
}

static bool watch(struct bb_lane *lane, struct bb__conn *conn)
{
    if (conn->registered && conn->interest == conn->want) return true;
    int code = conn->registered ? bb__poller_change(&lane->poller, conn->fd, conn->want, conn)
                                : bb__poller_add(&lane->poller, conn->fd, conn->want, conn);
    conn->registered = true;
    conn->interest = conn->want;
    return code == BB_OK;
}

bool bb__lane_settle(struct bb_lane *lane, struct bb__conn *conn, enum bb__conn_next next)
{
    switch (next) {
    case BB_CONN_REQUEST:
        return true;
    case BB_CONN_WAIT:
        if (!watch(lane, conn)) bb__lane_close(lane, conn, BB_CONN_END_RESET);
        return false;
    case BB_CONN_AGAIN:
        push_ready(lane, conn);
        return false;
    case BB_CONN_CLOSE:
        bb__lane_close(lane, conn, bb__conn_end_of(conn));
        return false;
    }
    return false;
}

void bb__lane_answered(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->current;
    lane->current = NULL;
    enum bb__conn_next next = bb__conn_answered(conn, &lane->context);
    if (next == BB_CONN_AGAIN && lane->in_a_row < BB_IN_A_ROW)
        lane->again = conn;
    else
        (void)bb__lane_settle(lane, conn, next);
}

/* ---- the loop ---- */

static struct bb__conn *take_event(struct bb_lane *lane)
{
    struct epoll_event *event = &lane->batch.events[lane->batch.next++];
    struct bb__source *source = event->data.ptr;
    if (!source) return NULL;
    switch (source->kind) {
    case BB_SOURCE_CONN: {
        struct bb__conn *conn = (struct bb__conn *)source;
        if (conn->is_ready) return NULL;
        return bb__lane_settle(lane, conn, bb__conn_on_ready(conn, &lane->context, event->events)) ? conn
                                                                                                   : NULL;
    }
    case BB_SOURCE_LISTENER:
        bb__lane_on_listener(lane, (const struct bb__listener *)source, event->events);
        return NULL;
    case BB_SOURCE_WAKE: /* bb_lane_wait()'s: a mere look must not swallow it */
    case BB_SOURCE_DRAIN:
        return NULL;
    }
    return NULL;
}

/* A connection whose deadline is over. What had come for it by then is read first, so it may have a request.
 */
static struct bb__conn *take_due(struct bb_lane *lane, struct bb__deadline *due)
{
    struct bb__conn *conn = bb__conn_of_deadline(due);
    return bb__lane_settle(lane, conn, bb__conn_on_deadline(conn, &lane->context)) ? conn : NULL;
}

static bool has_queued(const struct bb_lane *lane)
{
    return lane->context.draining && bb__worker_has_queued(lane->worker);
}

/* One of those that need no look: that have had their turn and have more in hand (once a lane drains, hardly
 * any), or were queued when the order to drain came. */
static struct bb__conn *take_held(struct bb_lane *lane)
{
    lane->held_turn = false;
    if (!lane->ready_first) return bb__lane_adopt(lane);
    struct bb__conn *conn = pop_ready(lane);
    return bb__lane_settle(lane, conn, bb__conn_advance(conn, &lane->context)) ? conn : NULL;
}

/* Looks, without waiting, whether others have come: before one that is in hand anyway, and when the last look
 * found something. */
static bool look(struct bb_lane *lane, bool held)
{
    if (lane->looked || (!held && !lane->busy)) return false;
    lane->looked = true;
    bb__poller_wait(&lane->poller, &lane->batch, 0);
    if (lane->context.log) bb__lane_log_looked(lane);
    lane->busy = lane->batch.count > 0;
    return lane->busy;
}

/* The next connection with a complete request, from
 *
 *     again       the one that was served last, if more is in its buffer   BB_IN_A_ROW in a row
 *     accepting   a listener's queue                                       BB_IN_A_ROW in a row
 *     batch       what the last look found                                 each once
 *     due         those whose time is over
 *     held        see take_held()                                          one after each turn of others
 *
 * in this order: a lane to which something always comes must forget nobody. */
static struct bb__conn *pick(struct bb_lane *lane)
{
    for (;;) {
        struct bb__conn *conn = NULL;
        struct bb__deadline *due;
        if (lane->again) {
            conn = lane->again;
            lane->again = NULL;
            if (bb__lane_settle(lane, conn, bb__conn_advance(conn, &lane->context))) return conn;
            continue;
        }
        bool held = lane->ready_first || has_queued(lane);
        lane->in_a_row = 0;
        if (lane->accepting) {
            conn = bb__lane_accept(lane);
        } else if (!bb__batch_empty(&lane->batch)) {
            conn = take_event(lane);
        } else if ((due = bb__deadline_take_due(&lane->context.deadlines, lane->context.now))) {
            conn = take_due(lane, due);
        } else if (!(held && lane->held_turn) && look(lane, held)) {
            continue;
        } else if (held) {
            conn = take_held(lane);
            if (conn) return conn;
        } else {
            return NULL;
        }
        if (!conn) continue;
        lane->held_turn = lane->ready_first || has_queued(lane);
        return conn;
    }
}

static void begin_drain(struct bb_lane *lane)
{
    uint64_t patience = lane->worker->settings.keepalive_drain, began = lane->worker->drain_began;
    if (patience == 0) patience = 1;
    lane->context.draining = true;
    bb__poller_remove(&lane->poller, lane->worker->drain_fd);
    bb__lane_stop_accepting(lane);
    static const enum bb__deadline_kind idle[] = {BB_DEADLINE_FRESH, BB_DEADLINE_HEADER,
                                                  BB_DEADLINE_KEEPALIVE, BB_DEADLINE_LINGER};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        bb__deadline_shorten(&lane->context.deadlines, idle[i], patience, began);
}

static void tell_rest(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    bb__news_tell_rest(&context->news, &lane->exhausted, context->now);
    for (int fault = 0; fault < BB_FAULTS; fault++)
        bb__news_tell_rest(&context->news, &context->fault_news[fault], context->now);
}

static void mind_the_time(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    context->now = bb__clock_ms();
    if (lane->handed_out > 0 && context->now - lane->handed_out > AWAY_TIME)
        context->away += context->now - lane->handed_out;
    lane->handed_out = 0;
    if (!context->draining && bb__worker_drains(lane->worker)) begin_drain(lane);
    if (lane->paused && context->now >= lane->resume) bb__lane_resume_accepting(lane);
    bb__lane_keep_to_limit(lane);
    tell_rest(lane);
    if (context->log) bb__lane_log_mind(lane);
}

int bb_lane_next(struct bb_lane *lane, const struct bb_request **request)
{
    if (bb__worker_is_inert(lane->worker)) return BB_DRAINED;
    mind_the_time(lane);
    if (lane->context.news.count > 0) return BB_NEWS;

    struct bb__conn *conn = pick(lane);
    if (conn) {
        lane->current = conn;
        lane->in_a_row++;
        lane->looked = false;
        atomic_store_explicit(&lane->on_call, false, memory_order_relaxed);
        lane->handed_out = lane->context.now;
        lane->reply.sent = lane->reply.ended = false;
        lane->reply.failed = BB_OK;
        lane->reply.write_progress = lane->context.now;
        lane->reply.waited = 0;
        lane->reply.given = 0;
        if (lane->context.log) bb__lane_log_begin(lane);
        bb__conn_fill_request(conn, &lane->context, &lane->request);
        *request = &lane->request;
        return BB_OK;
    }
    if (lane->context.news.count > 0) return BB_NEWS;
    atomic_store_explicit(&lane->on_call, false, memory_order_relaxed);
    bool drained =
        lane->context.draining && !lane->listening && !lane->conns && !bb__worker_has_queued(lane->worker);
    if (!drained) return BB_AGAIN;
    if (lane->context.log && !bb__lane_log_last(lane)) return BB_AGAIN;
    return lane->context.news.count > 0 ? BB_NEWS : BB_DRAINED;
}

static int patience(const struct bb_lane *lane)
{
    uint64_t now = bb__clock_ms();
    int wait = bb__deadline_wait(&lane->context.deadlines, now);
    if (lane->paused) {
        int pause = lane->resume > now ? (int)(lane->resume - now) : 0;
        if (wait < 0 || pause < wait) wait = pause;
    }
    int log = lane->context.log ? bb__access_log_patience(lane->context.log, now) : -1;
    return log >= 0 && (wait < 0 || log < wait) ? log : wait;
}

int bb_lane_wait(struct bb_lane *lane)
{
    if (bb__worker_is_inert(lane->worker)) return BB_OK;
    if (atomic_load_explicit(&lane->unwatched, memory_order_relaxed)) bb__lane_watch_again(lane);
    atomic_store(&lane->on_call, true);
    bb__poller_wait(&lane->poller, &lane->batch, patience(lane));
    if (lane->context.log) {
        bb__lane_log_looked(lane);
        if (lane->batch.count == 0) bb__lane_log_idle(lane);
    }
    for (int i = 0; i < lane->batch.count; i++)
        if (lane->batch.events[i].data.ptr == &lane->wake_source) bb__event_clear(lane->wake_fd);
    lane->busy = lane->batch.count >= 2;
    lane->looked = false;
    return BB_OK;
}

void bb_lane_wake(struct bb_lane *lane)
{
    if (!bb__worker_is_inert(lane->worker)) bb__event_raise(lane->wake_fd);
}

int bb_lane_news(struct bb_lane *lane, struct bb_news *news)
{
    return bb__news_take(&lane->context.news, news);
}
