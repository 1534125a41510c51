/* lane_watch.c: adds the sources of a lane to the lane's epoll set, and removes them. The sources are the
 * listeners and the shared queue. The epoll set has the sources while the lane has room for connections. */
#include "lane/lane.h"

/* source: NULL: all sources. */
static void forget_events(struct bb_lane *lane, const struct bb__source *source)
{
    for (int i = lane->set.batch.next; i < lane->set.batch.count; i++) {
        struct bb__poller_event *event = &lane->set.batch.events[i];
        if (source ? event->data.ptr == source : bb__lane_is_source_event(event)) event->data.ptr = NULL;
    }
}

static void unwatch(struct bb_lane *lane, bool nudges)
{
    pthread_mutex_lock(&lane->worker->lock);
    lane->intake.watching = false;
    bb__intake_remove_sources(&lane->intake, lane->worker);
    if (nudges) bb__worker_nudge(lane->worker);
    pthread_mutex_unlock(&lane->worker->lock);
    lane->accept.from = NULL;
    forget_events(lane, NULL);
}

void bb__lane_unwatch_sources(struct bb_lane *lane)
{
    unwatch(lane, true);
}

/* Whether this lane has paused before because of the first message of the shared queue. Then another nudge
 * would only fill the queue. */
static bool has_left_message(struct bb_lane *lane)
{
    struct bb__shared_stamp first;
    if (bb__shared_queue_look(&lane->worker->shared.queue, &first) != BB_OK) return false;
    bool before = lane->accept.left_since == first.since;
    lane->accept.left_since = first.since;
    return before;
}

void bb__lane_pause(struct bb_lane *lane)
{
    unwatch(lane, !has_left_message(lane));
    lane->accept.paused = true;
    bb__scoreboard_set_paused(lane->intake.slot, true);
    lane->set.has_room = false;
    lane->accept.resume = lane->context.crowded_until = lane->context.now + BB_PAUSE_TIME;
}

/* While the worker drains (ends gracefully), each pause lasts its full time. If the lane took all queued
 * connections at once, it would take descriptors that the application needs. */
uint64_t bb__lane_resumes(const struct bb_lane *lane)
{
    return lane->set.has_room && !lane->context.draining ? 0 : lane->accept.resume;
}

void bb__lane_watch_and_unlock(struct bb_lane *lane)
{
    bool added = bb__intake_add_sources(&lane->intake, lane->worker);
    pthread_mutex_unlock(&lane->worker->lock);
    if (!added) bb__lane_pause(lane); /* no memory for all sources */
}

void bb__lane_watch_sources(struct bb_lane *lane)
{
    pthread_mutex_lock(&lane->worker->lock);
    lane->intake.watching = true;
    bb__lane_watch_and_unlock(lane);
}

void bb__lane_rescan(struct bb_lane *lane)
{
    pthread_mutex_lock(&lane->worker->lock);
    bb__intake_remove_sources(&lane->intake, lane->worker);
    bb__lane_watch_and_unlock(lane);
}

void bb__lane_avoid_shared_queue(struct bb_lane *lane)
{
    pthread_mutex_lock(&lane->worker->lock);
    lane->intake.avoids_queue = true;
    bb__poller_remove(lane->intake.poller, lane->worker->shared.queue.out);
    pthread_mutex_unlock(&lane->worker->lock);
    forget_events(lane, &lane->worker->shared.source);
    lane->canary.avoids_until = lane->context.now + BB_AVOID_TIME;
}

void bb__lane_end_avoiding(struct bb_lane *lane)
{
    lane->canary.avoids_until = 0;
    pthread_mutex_lock(&lane->worker->lock);
    lane->intake.avoids_queue = false;
    bb__intake_remove_sources(&lane->intake, lane->worker);
    bb__lane_watch_and_unlock(lane);
}

void bb__lane_watch_shared_queue(struct bb_lane *lane)
{
    if (!lane->intake.watching) bb__lane_watch_sources(lane);
}
