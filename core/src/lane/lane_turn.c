/* lane_turn.c: how a lane (one thread of the host, Ruby) lets the I/O thread take the lane's set (its
 * connections) while the host has a request, and how the lane takes the set back. See set_owner.h and
 * io_thread.h. */
#include "lane/lane.h"

#include <poll.h>

/* While the I/O thread is awake, this costs two atomic operations and no system call. */
void bb__lane_release_set(struct bb_lane *lane)
{
    struct bb__io_link *io = lane->worker->io;
    if (!io) return;
    if (bb__lane_is_alone(lane)) {
        if (lane->turn.not_alone == 0) {
            if (lane->intake.slot) bb__owner_begin_alone(&lane->owner);
            return;
        }
        lane->turn.not_alone--;
    }
    atomic_store_explicit(&lane->response, BB_RESPONSE_OPEN, memory_order_relaxed);
    bb__owner_begin(&lane->owner);
    bb__io_notice(io);
}

/* The state becomes BUSY and not ALONE (set_owner.h), so the I/O thread takes the set if the lane waits long
 * for the host's lock. Then other lanes can serve the new connections that the kernel has reported only to
 * this lane. */
void bb__lane_release_woken(struct bb_lane *lane)
{
    struct bb__io_link *io = lane->worker->io;
    if (!io) return;
    lane->turn.then = BB_THEN_WAKE;
    lane->turn.wanted_since = 0;
    atomic_fetch_add_explicit(&lane->worker->lanes_woken, 1, memory_order_relaxed);
    bb__owner_begin(&lane->owner);
    bb__io_notice(io);
}

/* An ALONE lane becomes BUSY, because new connections may come while the lane waits. */
void bb__lane_announce_wait(struct bb_lane *lane)
{
    struct bb__io_link *io = lane->worker->io;
    if (!io) return;
    bb__owner_join(&lane->owner);
    bb__wakeup_raise(&io->kick);
}

void bb__lane_keep_again(struct bb_lane *lane)
{
    if (lane->pick.again) (void)bb__lane_settle(lane, lane->pick.again, BB_CONN_AGAIN);
    if (lane->pick.found) (void)bb__lane_settle(lane, lane->pick.found, BB_CONN_AGAIN);
    lane->pick.again = lane->pick.found = NULL;
}

bool bb_lane_gives_way(struct bb_lane *lane, bool others_have_requests)
{
    struct bb_worker *worker = lane->worker;
    if (!others_have_requests && atomic_load_explicit(&worker->lanes_woken, memory_order_relaxed) == 0) {
        lane->turn.wanted_since = 0;
        return false;
    }
    if (bb__worker_is_inert(worker) || lane->turn.then != BB_THEN_NOTHING) return false;
    uint64_t now = bb__clock_us();
    if (lane->turn.wanted_since == 0) lane->turn.wanted_since = now;
    if (bb__elapsed(now, lane->turn.wanted_since) < BB_TURN) return false;
    bb__lane_keep_again(lane);
    bb__lane_release_woken(lane);
    return true;
}

static void watch_again(struct bb_lane *lane)
{
    pthread_mutex_lock(&lane->worker->lock);
    lane->intake.held = false;
    bb__lane_watch_and_unlock(lane);
}

/* Takes the set back from the I/O thread. The I/O thread has dropped the events of the last look, so the lane
 * looks again. Only the sources (listeners and shared queue) must be added to the poller again. False: the
 * I/O thread is in the middle of a step. */
static bool take_back(struct bb_lane *lane)
{
    if (!bb__owner_return(&lane->owner)) return false;
    bb__poller_remove_poller(&lane->worker->io->queue, &lane->set.poller);
    lane->accept.from = NULL;
    lane->pick.busy = true;
    watch_again(lane);
    if (atomic_load(&lane->worker->accept_paused)) bb__wakeup_raise(&lane->worker->io->kick);
    return true;
}

/* The response is complete. */
static inline void go_on(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->current;
    lane->current = NULL;
    enum bb__conn_next next = bb__conn_response_done(conn, &lane->context);
    if (next == BB_CONN_AGAIN && lane->pick.in_a_row < BB_IN_A_ROW)
        lane->pick.again = conn;
    else if (next == BB_CONN_WAIT && bb__canary_is_there(lane->worker->scoreboard, lane->context.now))
        bb__lane_place(lane, conn);
    else
        (void)bb__conn_set_settle(&lane->set, &lane->context, conn, next);
}

/* If the client may still be sending its body, closing at once could reset the connection before the client
 * has read the response (RFC 9112 9.6). */
static void close_answered(struct bb_lane *lane, struct bb__conn *conn)
{
    if (!conn->unbuffered) {
        bb__conn_set_end(&lane->set, &lane->context, conn, BB_CONN_END_CLOSE);
        return;
    }
    conn->keep_alive = false;
    conn->linger = true;
    (void)bb__lane_settle(lane, conn, bb__conn_after_response(conn, &lane->context));
}

static void end_otherwise(struct bb_lane *lane, enum bb__then then)
{
    struct bb__conn *conn = lane->current;
    lane->current = NULL;
    switch (then) {
    case BB_THEN_STEP_BACK:
        bb__worker_step_back(lane->worker, &lane->intake);
        break;
    case BB_THEN_FORGET:
        bb__conn_set_unwatch(&lane->set, conn);
        bb__conn_set_end(&lane->set, &lane->context, conn, BB_CONN_END_ABANDON);
        break;
    case BB_THEN_CLOSE:
        close_answered(lane, conn);
        break;
    case BB_THEN_REJECT:
        (void)bb__lane_settle(lane, conn, bb__conn_reject(conn, &lane->context, conn->unbuffered->reason, 0));
        break;
    case BB_THEN_RESET:
        bb__conn_set_end(&lane->set, &lane->context, conn, BB_CONN_END_RESET);
        break;
    default:
        break;
    }
}

static void do_later(struct bb_lane *lane, enum bb__then then)
{
    lane->turn.then = then;
    lane->reply.failed = BB_EGONE; /* until the next request there is nothing to reply to */
}

void bb__lane_reclaim_set(struct bb_lane *lane, enum bb__then then)
{
    bb__scoreboard_end(lane->intake.slot);
    if (!bb__owner_end(&lane->owner) && !take_back(lane))
        do_later(lane, then);
    else if (then == BB_THEN_GO_ON)
        go_on(lane);
    else
        end_otherwise(lane, then);
}

bool bb__lane_try_reclaim(struct bb_lane *lane)
{
    bool ended = false;
    if (lane->turn.then == BB_THEN_NOTHING) return true;
    if (lane->turn.then == BB_THEN_WAKE) {
        lane->turn.then = BB_THEN_LOOK;
        atomic_fetch_sub_explicit(&lane->worker->lanes_woken, 1, memory_order_relaxed);
        ended = bb__owner_end(&lane->owner);
    }
    if (!ended && !take_back(lane)) return false;
    enum bb__then then = lane->turn.then;
    lane->turn.then = BB_THEN_NOTHING;
    if (then == BB_THEN_GO_ON)
        go_on(lane);
    else
        end_otherwise(lane, then);
    return true;
}

void bb__lane_await_set(struct bb_lane *lane)
{
    struct pollfd given = {.fd = lane->intake.wakeup.fd, .events = POLLIN};
    if (poll(&given, 1, -1) > 0) bb__wakeup_clear(&lane->intake.wakeup);
}

bool bb__lane_claim_response(struct bb_lane *lane)
{
    unsigned before = atomic_load_explicit(&lane->response, memory_order_relaxed);
    unsigned next = lane->reply.ended ? BB_RESPONSE_ENDED : BB_RESPONSE_SENT;
    return before < BB_RESPONSE_BY_IO && atomic_compare_exchange_strong(&lane->response, &before, next);
}

bool bb__lane_stop_sending(struct bb_lane *lane)
{
    lane->reply.ended = true;
    return bb__lane_may_send(lane) ||
           atomic_load_explicit(&lane->response, memory_order_relaxed) != BB_RESPONSE_BY_IO;
}
