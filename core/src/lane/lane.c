/* lane.c: one host thread's loop: which connection is served next, and when to wait. See bontebok.h for the
 * contracts.
 *
 * The cheapest path is accept4, recv, parse, (host), send, close: a new connection is read at once and enters
 * the poller only when it has to wait. A kept-alive one stays in the poller, level-triggered, and is never
 * touched between requests. */
#include "lane/lane.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct bb__conn *take_event(struct bb_lane *lane)
{
    struct epoll_event *event = &lane->set.batch.events[lane->set.batch.next++];
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
    case BB_SOURCE_SHARED_QUEUE:
        return bb__lane_take_source(lane, event);
    case BB_SOURCE_WAKE: /* bb_lane_wait()'s: a mere look must not swallow it */
    case BB_SOURCE_DRAIN:
    case BB_SOURCE_SET:
        return NULL;
    }
    return NULL;
}

/* A connection whose deadline is over. What had come for it by then is read first, so it may have a request.
 */
static struct bb__conn *take_due(struct bb_lane *lane, struct bb__timeout *due)
{
    struct bb__conn *conn = bb__conn_of_timeout(due);
    lane->context.read_at = 0; /* the last look was before others were served */
    return bb__lane_settle(lane, conn, bb__conn_on_timeout(conn, &lane->context)) ? conn : NULL;
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
    if (!lane->set.ready_first) return bb__lane_adopt(lane);
    struct bb__conn *conn = bb__conn_set_take_ready(&lane->set);
    return bb__lane_settle(lane, conn, bb__conn_resume(conn, &lane->context)) ? conn : NULL;
}

/* Looks, without waiting, whether others have come: before one that is in hand anyway, and when the last look
 * found something. */
static bool look(struct bb_lane *lane, bool held)
{
    if (lane->looked || (!held && !lane->busy)) return false;
    lane->looked = true;
    bb__poller_wait(&lane->set.poller, &lane->set.batch, 0);
    bb__lane_looked(lane);
    lane->busy = lane->set.batch.count > 0;
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
        struct bb__timeout *due;
        if (lane->again) {
            conn = lane->again;
            lane->again = NULL;
            if (bb__lane_settle(lane, conn, bb__conn_advance(conn, &lane->context))) return conn;
            continue;
        }
        bool held = lane->set.ready_first || has_queued(lane);
        lane->in_a_row = 0;
        if (lane->accepting) {
            conn = bb__lane_accept(lane);
        } else if (!bb__batch_empty(&lane->set.batch)) {
            if (bb__lane_is_to_share(lane) && !bb__lane_share(lane)) continue;
            conn = take_event(lane);
        } else if ((due = bb__timeout_take_due(&lane->set.timeouts, lane->context.now))) {
            conn = take_due(lane, due);
        } else if (!(held && lane->held_turn) && look(lane, held)) {
            continue;
        } else if (held) {
            conn = take_held(lane);
            if (conn) return conn;
        } else if (!lane->context.draining || !bb__lane_take_left(lane, &conn)) {
            return NULL;
        }
        if (!conn) continue;
        lane->held_turn = lane->set.ready_first || has_queued(lane);
        return conn;
    }
}

static void tell_rest(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    if (context->events.left_out == 0) return;
    bb__event_tell_rest(&context->events, &lane->exhausted, context->now);
    bb__event_tell_rest(&context->events, &lane->lost, context->now);
    for (int sends = 0; sends < 2; sends++)
        bb__event_tell_rest(&context->events, &lane->slow[sends], context->now);
    for (int fault = 0; fault < BB_FAULTS; fault++)
        bb__event_tell_rest(&context->events, &context->fault_events[fault], context->now);
}

static void tick(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    context->now = bb__clock_ms();
    bb__conn_set_look(&lane->set, context->now);
    if (!context->draining && bb__worker_drains(lane->worker)) bb__lane_begin_drain(lane);
    if (lane->paused && context->now >= bb__lane_resumes(lane)) bb__lane_resume_accepting(lane);
    if (context->draining) bb__lane_check_drain(lane);
    if (bb__worker_is_over_limit(lane->worker)) bb__lane_keep_to_limit(lane);
    tell_rest(lane);
    if (context->log) bb__lane_log_tick(lane);
    if (atomic_load_explicit(&lane->worker->has_events, memory_order_relaxed))
        bb__worker_take_events(lane->worker, &context->events);
}

/* For long enough that the clock of deadlines shows it: a look at the other one costs more. */
static bool has_waited(const struct bb_lane *lane, const struct bb__conn *conn)
{
    return conn->ready_at > 0 && conn->ready_at < lane->context.now * 1000;
}

/* What only an option asks for. False: nobody is there to be answered. */
static bool attend(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->current;
    bool checks = lane->worker->settings.check_client_connection > 0;
    if (checks && bb__conn_check_client_gone(conn, &lane->context)) {
        lane->current = NULL;
        bb__conn_set_end(&lane->set, &lane->context, conn, BB_CONN_END_CLOSE);
        return false;
    }
    if (lane->context.log) bb__lane_log_begin(lane);
    return true;
}

int bb_lane_next(struct bb_lane *lane, const struct bb_request **request)
{
    if (bb__worker_is_inert(lane->worker)) return BB_DRAINED;
    if (lane->then != BB_THEN_NOTHING && !bb__lane_has_returned(lane)) return BB_AGAIN;
    tick(lane);
    if (lane->context.events.count > 0) return BB_EVENT;

    struct bb__conn *conn = pick(lane);
    if (conn) {
        lane->current = conn;
        lane->in_a_row++;
        lane->shares.requests++;
        lane->looked = false;
        atomic_store_explicit(&lane->intake.waiting, false, memory_order_relaxed);
        lane->handed_out = lane->context.now;
        lane->reply.sent = lane->reply.ended = false;
        lane->reply.failed = BB_OK;
        lane->reply.write_progress = lane->context.now;
        lane->reply.moments = 0;
        atomic_store_explicit(&lane->reply.waited, 0, memory_order_relaxed);
        atomic_store_explicit(&lane->reply.taking, 0, memory_order_relaxed);
        lane->reply.spools = false;
        lane->reply.given = 0;
        lane->request.queue_time = has_waited(lane, conn) ? bb__clock_us() - conn->ready_at : 0;
        if (lane->attends && !attend(lane)) return BB_EVENT;
        if (lane->intake.slot)
            bb__scoreboard_begin(lane->intake.slot, lane->context.now, lane->request.queue_time);
        bb__conn_fill_request(conn, &lane->context, &lane->request);
        bb__lane_leaves(lane);
        *request = &lane->request;
        return BB_OK;
    }
    if (lane->context.events.count > 0) return BB_EVENT;
    atomic_store_explicit(&lane->intake.waiting, false, memory_order_relaxed);
    if (!lane->context.draining || !bb__lane_has_drained(lane)) return BB_AGAIN;
    if (lane->context.log && !bb__lane_log_last(lane)) return BB_AGAIN;
    return lane->context.events.count > 0 ? BB_EVENT : BB_DRAINED;
}

static int wait_time(struct bb_lane *lane)
{
    uint64_t now = bb__clock_ms();
    int wait = bb__timeout_wait(&lane->set.timeouts, now);
    if (lane->paused) {
        uint64_t resume = bb__lane_resumes(lane);
        int pause = resume > now ? (int)(resume - now) : 0;
        if (wait < 0 || pause < wait) wait = pause;
    }
    if ((lane->handing_over || lane->standing_by) && (wait < 0 || wait > BB_RETRY)) wait = BB_RETRY;
    int log = lane->context.log ? bb__access_log_wait(lane->context.log, now) : -1;
    if (log >= 0 && (wait < 0 || log < wait)) wait = log;
    lane->set.due_back = wait < 0 ? BB_NOT_DUE : now + (uint64_t)wait;
    return wait;
}

/* The application may have closed a descriptor that is not its own. */
static void rest(struct bb_lane *lane, int error)
{
    struct pollfd wake = {.fd = lane->intake.wake_fd, .events = POLLIN};
    const struct bb_event event = {.error = error, .text = "epoll: a thread hears of no client"};
    bb__event_add_paced(&lane->context.events, &lane->lost, lane->context.now, &event);
    (void)poll(&wake, 1, BB_RETRY);
}

static void wait_for_events(struct bb_lane *lane)
{
    if (bb__poller_wait(&lane->set.poller, &lane->set.batch, wait_time(lane)) != BB_OK) rest(lane, errno);
}

int bb_lane_wait(struct bb_lane *lane)
{
    if (bb__worker_is_inert(lane->worker)) return BB_OK;
    if (lane->then == BB_THEN_WAKE) (void)bb__lane_has_returned(lane);
    if (lane->then != BB_THEN_NOTHING) {
        bb__lane_await_set(lane);
        return BB_OK;
    }
    if (atomic_load_explicit(&lane->intake.unwatched, memory_order_relaxed)) bb__lane_watch_again(lane);
    atomic_store(&lane->intake.waiting, true);
    bb__scoreboard_set_idle(lane->intake.slot, true);
    do wait_for_events(lane);
    while (bb__worker_has_paused_accepting(lane->worker) && lane->worker->aside != &lane->intake &&
           bb__lane_pass_all(lane));
    bb__scoreboard_set_idle(lane->intake.slot, false);
    bb__lane_looked(lane);
    if (lane->context.log && lane->set.batch.count == 0) bb__lane_log_idle(lane);
    for (int i = 0; i < lane->set.batch.count; i++)
        if (lane->set.batch.events[i].data.ptr == &lane->wake_source) bb__eventfd_clear(lane->intake.wake_fd);
    lane->busy = lane->set.batch.count >= 2;
    lane->looked = false;
    bb__lane_is_woken(lane);
    return BB_OK;
}

void bb_lane_wake(struct bb_lane *lane)
{
    if (!bb__worker_is_inert(lane->worker)) bb__eventfd_raise(lane->intake.wake_fd);
}

int bb_lane_event(struct bb_lane *lane, struct bb_event *event)
{
    return bb__event_take(&lane->context.events, event);
}
