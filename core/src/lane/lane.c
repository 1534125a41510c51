/* lane.c: the loop of a lane. A lane is one thread of the host (the program that calls the core: Ruby). The
 * loop decides which connection is served next. lane_wait.c waits. See bontebok.h for the contracts.
 * The cheapest path of a request is accept4, recv, parse, the host's work, send, close. A new connection is
 * read at once, and enters the poller only if it has to wait. A kept-alive connection stays in the poller
 * (level-triggered) and is not touched between two requests. */
#include "lane/lane.h"

#include <string.h>

/* The result of a look at one of the places where requests may wait. */
enum found {
    NOTHING,
    PROGRESS, /* the lane did something there, but found no request */
    REQUEST,
};

static enum found settle(struct bb_lane *lane, struct bb__conn *conn, enum bb__conn_next next,
                         struct bb__conn **served)
{
    if (!bb__lane_settle(lane, conn, next)) return PROGRESS;
    *served = conn;
    return REQUEST;
}

static enum found found_of(const struct bb__conn *conn)
{
    return conn ? REQUEST : PROGRESS;
}

/* Continues with the connection that was served last, if its buffer has another request. */
static enum found from_same_connection(struct bb_lane *lane, struct bb__conn **served)
{
    struct bb__conn *conn = lane->pick.again;
    if (!conn) return NOTHING;
    lane->pick.again = NULL;
    return settle(lane, conn, bb__conn_advance(conn, &lane->context), served);
}

/* Takes the request that bb_lane_wait() has found while it sent files. */
static enum found from_wait(struct bb_lane *lane, struct bb__conn **served)
{
    if (!lane->pick.found) return NOTHING;
    *served = lane->pick.found;
    lane->pick.found = NULL;
    return REQUEST;
}

static enum found from_accept_queue(struct bb_lane *lane, struct bb__conn **served)
{
    if (!lane->accept.from) return NOTHING;
    *served = bb__lane_accept(lane);
    return found_of(*served);
}

static enum found take_event(struct bb_lane *lane, struct bb__conn **served)
{
    struct bb__poller_event *event = &lane->set.batch.events[lane->set.batch.next++];
    struct bb__source *source = event->data.ptr;
    if (!source) return PROGRESS;
    switch (source->kind) {
    case BB_SOURCE_CONN: {
        struct bb__conn *conn = (struct bb__conn *)source;
        if (conn->set.is_ready) return PROGRESS;
        return settle(lane, conn, bb__conn_on_ready(conn, &lane->context, event->events), served);
    }
    case BB_SOURCE_LISTENER:
    case BB_SOURCE_SHARED_QUEUE:
        *served = bb__lane_take_source(lane, event);
        return found_of(*served);
    case BB_SOURCE_WAKE: /* only bb_lane_wait() clears this event */
    case BB_SOURCE_DRAIN:
    case BB_SOURCE_SET:
        return PROGRESS;
    }
    return PROGRESS;
}

/* Takes an event that the last look at the poller found. */
static enum found from_batch(struct bb_lane *lane, struct bb__conn **served)
{
    if (bb__batch_empty(&lane->set.batch)) return NOTHING;
    if (bb__lane_is_to_share(lane) && !bb__lane_share(lane)) return PROGRESS;
    return take_event(lane, served);
}

/* Takes a connection whose timeout is over. Bytes that have arrived are read first, so the connection may
 * have a request. */
static enum found from_timeouts(struct bb_lane *lane, struct bb__conn **served)
{
    struct bb__timeout *due = bb__timeout_take_due(&lane->set.timeouts, lane->context.now);
    if (!due) return NOTHING;
    struct bb__conn *conn = bb__conn_of_timeout(due);
    lane->context.read_at = 0; /* out of date, because other connections were served since the last look */
    return settle(lane, conn, bb__conn_on_timeout(conn, &lane->context), served);
}

static bool has_queued(const struct bb_lane *lane)
{
    return lane->context.draining && bb__worker_has_queued(lane->worker);
}

/* Whether from_waiting() would find a connection. */
static bool has_waiting(const struct bb_lane *lane)
{
    return lane->set.ready_first || has_queued(lane);
}

/* Looks at the poller, without waiting, if from_waiting() would be next, or if the last look found events. */
static enum found from_poller(struct bb_lane *lane)
{
    bool waiting = has_waiting(lane);
    if (waiting && lane->pick.waiting_turn) return NOTHING;
    if (lane->pick.looked || (!waiting && !lane->pick.busy)) return NOTHING;
    lane->pick.looked = true;
    bb__poller_wait(&lane->set.poller, &lane->set.batch, 0);
    bb__lane_after_look(lane);
    lane->pick.busy = lane->set.batch.count > 0;
    return lane->pick.busy ? PROGRESS : NOTHING;
}

/* Takes a ready connection, or a connection that was in an accept queue when the worker began to drain (end
 * gracefully). */
static enum found from_waiting(struct bb_lane *lane, struct bb__conn **served)
{
    if (!has_waiting(lane)) return NOTHING;
    lane->pick.waiting_turn = false;
    if (lane->set.ready_first) {
        struct bb__conn *conn = bb__conn_set_take_ready(&lane->set);
        return settle(lane, conn, bb__conn_resume(conn, &lane->context), served);
    }
    *served = bb__lane_adopt(lane);
    return found_of(*served);
}

/* Takes a connection from the shared queue if the lane drains and its worker may be the last worker of the
 * server. After the last worker has ended, nobody would serve the connection. */
static enum found from_shared_queue(struct bb_lane *lane, struct bb__conn **served)
{
    if (!lane->context.draining || !bb__lane_take_left(lane, served)) return NOTHING;
    return found_of(*served);
}

/* found: the result of a function other than from_waiting(). After a REQUEST, the lane calls from_waiting()
 * before it looks at the poller again. Otherwise the lane would never call from_waiting() while each look
 * finds new requests. */
static enum found turn_of_others(struct bb_lane *lane, enum found found)
{
    if (found == REQUEST) lane->pick.waiting_turn = has_waiting(lane);
    return found;
}

/* See BB_FILES_IN_A_ROW. */
static bool has_sent_many_files(struct bb_lane *lane)
{
    unsigned count = lane->context.files_sent - lane->pick.files;
    if (count == 0) return false;
    uint64_t now = bb__clock_us();
    if (lane->pick.files_since == 0) lane->pick.files_since = now;
    return count >= BB_FILES_IN_A_ROW || bb__elapsed(now, lane->pick.files_since) >= BB_FILES_TIME;
}

static void begin_to_pick(struct bb_lane *lane)
{
    lane->pick.pauses = false;
    lane->pick.files = lane->context.files_sent;
    lane->pick.files_since = 0;
}

/* Returns the next connection with a complete request, or NULL. New events may always come, so each place has
 * a limit:
 *
 *     same connection   BB_IN_A_ROW requests in a row
 *     last wait         one request
 *     accept queue      BB_IN_A_ROW connections in a row
 *     batch             each event once
 *     waiting           one after each request of the other places
 */
static struct bb__conn *pick(struct bb_lane *lane)
{
    begin_to_pick(lane);
    for (;;) {
        struct bb__conn *served = NULL;
        enum found found = from_same_connection(lane, &served);
        if (found == NOTHING) {
            lane->pick.in_a_row = 0;
            found = turn_of_others(lane, from_wait(lane, &served));
        }
        if (found == NOTHING) found = turn_of_others(lane, from_accept_queue(lane, &served));
        if (found == NOTHING) found = turn_of_others(lane, from_batch(lane, &served));
        if (found == NOTHING) found = turn_of_others(lane, from_timeouts(lane, &served));
        if (found == NOTHING) found = from_poller(lane);
        if (found == NOTHING) found = from_waiting(lane, &served);
        if (found == NOTHING) found = turn_of_others(lane, from_shared_queue(lane, &served));
        if (found != PROGRESS) return served;
        if (has_sent_many_files(lane)) {
            lane->pick.pauses = true;
            bb__lane_keep_again(lane);
            return NULL;
        }
    }
}

static void tell_rest(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    bb__conn_report_due(context);
    if (context->events.left_out == 0) return;
    bb__event_tell_rest(&context->events, &lane->paces.unnamed, context->now);
    bb__event_tell_rest(&context->events, &lane->paces.exhausted, context->now);
    bb__event_tell_rest(&context->events, &lane->paces.lost, context->now);
}

static void tick(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    context->now = bb__clock_ms();
    bb__conn_set_look(&lane->set, context->now);
    if (context->now != lane->sample.tick) bb__conn_set_show(&lane->set, context->counts.own);
    if (!context->draining && bb__worker_drains(lane->worker)) bb__lane_begin_drain(lane);
    if (lane->accept.paused && context->now >= bb__lane_resumes(lane)) bb__lane_resume_accepting(lane);
    if (lane->canary.avoids_until > 0 && context->now >= lane->canary.avoids_until)
        bb__lane_end_avoiding(lane);
    if (context->draining) bb__lane_check_drain(lane);
    if (bb__worker_is_over_limit(lane->worker)) {
        bb__lane_keep_again(lane); /* a rejection may overwrite the head of pick.found */
        bb__lane_keep_to_limit(lane, NULL);
    }
    tell_rest(lane);
    if (context->log) bb__lane_log_tick(lane);
    if (atomic_load_explicit(&lane->worker->has_news, memory_order_relaxed)) {
        bb__lane_take_lingering(lane, context);
        bb__worker_take_events(lane->worker, &context->events);
    }
}

/* Whether the request has waited for at least one tick of the millisecond clock. If not, the microsecond
 * clock is not read, because reading it costs more. */
static bool has_waited(const struct bb_lane *lane, const struct bb__conn *conn)
{
    return conn->wait.ready_at > 0 && conn->wait.ready_at < lane->context.now * 1000;
}

/* Does the work for the settings check_client_connection and access_log. Returns false if the client has
 * closed the connection. */
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
    if (lane->turn.then != BB_THEN_NOTHING && !bb__lane_try_reclaim(lane)) return BB_AGAIN;
    tick(lane);
    if (lane->context.events.count > 0) return BB_EVENT;

    struct bb__conn *conn = pick(lane);
    if (conn) {
        lane->current = conn;
        lane->pick.in_a_row++;
        lane->shares.requests++;
        lane->pick.looked = false;
        atomic_store_explicit(&lane->intake.waiting, false, memory_order_relaxed);
        lane->handed_out = lane->context.now;
        lane->reply.sent = lane->reply.ended = lane->reply.detached = lane->reply.has_received = false;
        lane->reply.awaits_room = false;
        lane->reply.failed = BB_OK;
        lane->reply.write_progress = lane->context.now;
        lane->reply.moments = 0;
        atomic_store_explicit(&lane->reply.waited, 0, memory_order_relaxed);
        atomic_store_explicit(&lane->reply.received_for, 0, memory_order_relaxed);
        atomic_store_explicit(&lane->reply.taking, 0, memory_order_relaxed);
        atomic_store_explicit(&lane->reply.untimed, false, memory_order_relaxed);
        atomic_store_explicit(&lane->reply.is_error, false, memory_order_relaxed);
        lane->reply.spools = false;
        lane->reply.given = 0;
        bool waited = has_waited(lane, conn);
        lane->request.queue_time = waited ? bb__elapsed(bb__clock_us(), conn->wait.ready_at) : 0;
        if (lane->attends && !attend(lane)) return BB_EVENT;
        if (lane->sample.counts.metrics)
            bb__sample_begin(&lane->sample, lane->context.now, conn->wait.ready_at,
                             waited ? lane->request.queue_time : 0);
        if (lane->intake.slot)
            bb__scoreboard_begin(lane->intake.slot, lane->context.now, lane->request.queue_time);
        bb__conn_fill_request(conn, &lane->context, &lane->request);
        bb__lane_release_set(lane);
        *request = &lane->request;
        return BB_OK;
    }
    if (lane->context.events.count > 0) return BB_EVENT;
    atomic_store_explicit(&lane->intake.waiting, false, memory_order_relaxed);
    if (lane->pick.pauses || !lane->context.draining || !bb__lane_finish_drain(lane)) return BB_AGAIN;
    if (lane->context.log && !bb__lane_log_last(lane)) return BB_AGAIN;
    bb__conn_report_rest(&lane->context, true);
    return lane->context.events.count > 0 ? BB_EVENT : BB_DRAINED;
}

int bb_lane_event(struct bb_lane *lane, struct bb_event *event)
{
    return bb__event_take(&lane->context.events, event);
}
