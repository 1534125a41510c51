/* lane_source.c: whose turn it is when more comes from several sources than a lane has time for: from the
 * listeners, each with a queue of its own, and from the shared queue. None of them tells how long it has
 * waited, and the kernel names them in the same order again and again. */
#include "lane/lane.h"

static bool is_source(const struct epoll_event *event)
{
    const struct bb__source *source = event->data.ptr;
    return source && (source->kind == BB_SOURCE_LISTENER || source->kind == BB_SOURCE_SHARED_QUEUE);
}

/* The listeners in their order; then the shared queue. */
static int place(const struct bb_worker *worker, const struct epoll_event *event)
{
    const struct bb__source *source = event->data.ptr;
    if (source->kind == BB_SOURCE_SHARED_QUEUE) return worker->listener_count;
    return (int)((const struct bb__listener *)source - worker->listeners);
}

/* How many have their turn before it. */
static int distance(const struct bb_lane *lane, const struct epoll_event *event)
{
    int count = lane->worker->listener_count + 1;
    return (place(lane->worker, event) - lane->pick.last_source - 1 + count) % count;
}

static void swap(struct epoll_event *one, struct epoll_event *other)
{
    struct epoll_event event = *one;
    *one = *other;
    *other = event;
}

/* In the place of the event that was taken last, of all that the look has found. Returns whether it found
 * more sources. */
static bool find_next(struct bb_lane *lane, struct epoll_event *taken)
{
    struct bb__batch *batch = &lane->set.batch;
    bool found = false;
    for (int i = batch->next; i < batch->count; i++) {
        struct epoll_event *event = &batch->events[i];
        if (!is_source(event)) continue;
        found = true;
        if (distance(lane, event) < distance(lane, taken)) swap(taken, event);
    }
    lane->pick.last_source = place(lane->worker, taken);
    return found;
}

struct bb__conn *bb__lane_take_source(struct bb_lane *lane, struct epoll_event *taken)
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
