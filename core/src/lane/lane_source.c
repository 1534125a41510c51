/* lane_source.c: which source a lane serves next if several sources have events. The sources are the
 * listeners and the shared queue. They take turns, because the kernel reports them in the same order each
 * time, and no source shows how long its first connection has waited. */
#include "lane/lane.h"

/* Returns the place of a source in the order of turns. The listeners come first, then the shared queue. */
static int place(const struct bb_worker *worker, const struct bb__poller_event *event)
{
    const struct bb__source *source = event->data.ptr;
    if (source->kind == BB_SOURCE_SHARED_QUEUE) return worker->listen.count;
    return (int)((const struct bb__listener *)source - worker->listen.listeners);
}

/* Returns how many sources have their turn before this source. */
static int distance(const struct bb_lane *lane, const struct bb__poller_event *event)
{
    int count = lane->worker->listen.count + 1;
    return (place(lane->worker, event) - lane->pick.last_source - 1 + count) % count;
}

static void swap(struct bb__poller_event *one, struct bb__poller_event *other)
{
    struct bb__poller_event event = *one;
    *one = *other;
    *other = event;
}

/* Exchanges two events: the taken event, and the event of the next source. Returns whether other sources have
 * events, too. */
static bool find_next(struct bb_lane *lane, struct bb__poller_event *taken)
{
    struct bb__batch *batch = &lane->set.batch;
    bool found = false;
    for (int i = batch->next; i < batch->count; i++) {
        struct bb__poller_event *event = &batch->events[i];
        if (!bb__lane_is_source_event(event)) continue;
        found = true;
        if (distance(lane, event) < distance(lane, taken)) swap(taken, event);
    }
    lane->pick.last_source = place(lane->worker, taken);
    return found;
}

struct bb__conn *bb__lane_take_source(struct bb_lane *lane, struct bb__poller_event *taken)
{
    bool others_wait = find_next(lane, taken);
    struct bb__source *source = taken->data.ptr;
    struct bb__conn *conn = NULL;
    if (source->kind == BB_SOURCE_SHARED_QUEUE)
        (void)bb__lane_take_shared(lane, &conn);
    else
        bb__lane_on_listener(lane, (struct bb__listener *)source, taken->events, others_wait);
    return conn;
}
