/* lane_drain.c: how a lane drains, which means that it ends gracefully. A lane without connections stands by
 * while another lane has a long request. The idle lane serves the requests that come on the busy lane's other
 * connections. */
#include "lane/lane.h"

/* Returns how many ms ago the worker began to drain. Returns 0 if the lane's clock (context.now) still shows
 * an earlier time. */
static uint64_t drains_for(const struct bb_lane *lane)
{
    return bb__elapsed(lane->context.now, atomic_load(&lane->worker->drain.began));
}

void bb__lane_begin_drain(struct bb_lane *lane)
{
    lane->context.draining = true;
    bb__poller_remove(&lane->set.poller, lane->worker->drain.wakeup.fd);
    bb__lane_stop_accepting(lane);
    bb__conn_set_hurry(&lane->set, lane->worker->settings.keepalive_drain, lane->worker->drain.began);
}

bool bb__lane_take_left(struct bb_lane *lane, struct bb__conn **conn)
{
    return !lane->accept.paused && bb__worker_is_last(lane->worker) &&
           bb__lane_take_shared(lane, conn) == BB_OK;
}

/* The I/O thread calls this too, for a set that it has. */
void bb__lane_show_done(struct bb_lane *lane)
{
    bb__scoreboard_set_done(lane->intake.slot,
                            !bb__conn_set_may_be_asked(&lane->set) && !bb__worker_has_queued(lane->worker));
}

/* If other workers continue, passes the idle connections on to them. */
static void hand_over(struct bb_lane *lane)
{
    if (lane->pick.again) return;
    lane->drain.handing_over =
        bb__worker_hands_over(lane->worker) &&
        !bb__conn_set_pass_idle(&lane->set, &lane->context, &lane->worker->shared.queue);
}

void bb__lane_check_drain(struct bb_lane *lane)
{
    if (lane->set.conns) hand_over(lane);
    bb__lane_show_done(lane);
}

/* Another worker may begin to drain some milliseconds later. So during the first keepalive_drain ms, lanes
 * that do not drain yet count as well. */
static bool others_are_done(const struct bb_lane *lane)
{
    const struct bb_worker *worker = lane->worker;
    bool all = drains_for(lane) < worker->settings.keepalive_drain;
    return bb__scoreboard_others_are_done(worker->scoreboard, lane->intake.slot, all);
}

/* Whether a message is in the shared queue. Called after others_are_done(), because the I/O thread passes on
 * a lane's last connection before it shows the lane as done. */
static bool has_left_something(const struct bb_worker *worker)
{
    struct bb__shared_stamp first;
    return bb__shared_queue_look(&worker->shared.queue, &first) == BB_OK;
}

/* Each lane looks into the shared queue after it has passed on its last connection, so no request stays
 * there. No lane stands by during the last quarter of graceful_timeout, because it would be killed together
 * with the busy lane. */
static bool stands_by(const struct bb_lane *lane)
{
    const struct bb_worker *worker = lane->worker;
    uint64_t longest = worker->settings.graceful_timeout - worker->settings.graceful_timeout / 4;
    return worker->scoreboard && bb__worker_is_last(worker) && drains_for(lane) < longest &&
           (!others_are_done(lane) || has_left_something(worker));
}

bool bb__lane_finish_drain(struct bb_lane *lane)
{
    bool has_something = lane->accept.listening || lane->set.conns || bb__worker_has_queued(lane->worker);
    bb__lane_show_done(lane);
    lane->drain.standing_by = !has_something && stands_by(lane);
    if (lane->drain.standing_by && !lane->accept.paused) bb__lane_watch_shared_queue(lane);
    return !has_something && !lane->drain.standing_by && bb__worker_lane_ends(lane->worker, &lane->intake);
}
