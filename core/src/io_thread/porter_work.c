/* porter_work.c: see porter_work.h. */
#include "io_thread/porter_work.h"

#include <errno.h>

/* Reads in a row of what has come to one set. */
#define TURNS 4

/* ---- all of a set ---- */

/* Those that were ready when they came to us, or could not be passed on. Each once: they may come back. Once
 * the relay is full the others are not even looked at, there may be thousands: each goes behind the one
 * before it, until all are in the order in which they were. */
static void pass_ready(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb__set *set = &lane->set;
    const struct bb__conn *last = set->ready_last;
    set->relay_is_full = false;
    while (set->ready_first && (set->relay_is_full || !bb__porter_is_wanted(lane))) {
        struct bb__conn *conn = bb__set_take_ready(set);
        bool was_last = conn == last;
        enum bb__conn_next next =
            set->relay_is_full ? BB_CONN_AGAIN : bb__conn_resume(conn, &porter->context);
        bb__porter_settle(porter, lane, conn, next);
        if (was_last) return;
    }
}

/* Whether it was a connection's, which may have more. */
static bool take_event(struct bb__porter *porter, struct bb_lane *lane, const struct epoll_event *event)
{
    struct bb__source *source = event->data.ptr;
    if (!source || source->kind != BB_SOURCE_CONN) return false;
    struct bb__conn *conn = (struct bb__conn *)source;
    if (conn->is_ready) return false;
    bb__porter_settle(porter, lane, conn, bb__conn_on_ready(conn, &porter->context, event->events));
    return true;
}

/* The porter is told once of what has come: it looks until there is nothing more to read, or, if that does
 * not end, after others had their turn. What is left of the batch when the lane wants its set back comes
 * again. True: there may be more. */
static bool take_events(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb__batch *batch = &lane->set.batch;
    bool more = true;
    for (int turn = 0; more && turn < TURNS && !bb__porter_is_wanted(lane); turn++) {
        if (bb__poller_wait(&lane->set.poller, batch, 0) != BB_OK) bb__porter_note_trouble(porter, errno);
        more = batch->count == BB_BATCH;
        while (!bb__batch_empty(batch) && !bb__porter_is_wanted(lane))
            more = take_event(porter, lane, &batch->events[batch->next++]) || more;
    }
    batch->count = batch->next = 0;
    return more;
}

static void take_due(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb__deadline *due;
    while (!bb__porter_is_wanted(lane) &&
           (due = bb__deadline_take_due(&lane->set.deadlines, porter->context.now))) {
        struct bb__conn *conn = bb__conn_of_deadline(due);
        bb__porter_settle(porter, lane, conn, bb__conn_on_deadline(conn, &porter->context));
    }
}

/* The porter is to hear of what comes. */
static void watch(struct bb__porter *porter, struct bb_lane *lane)
{
    static struct bb__source held = {BB_SOURCE_SET};
    lane->minded.unheard = bb__poller_add_edge(&porter->link.queue, lane->set.poller.fd, &held) != BB_OK;
    if (lane->minded.unheard) bb__porter_note_trouble(porter, errno);
}

/* False: there are some that could not be passed on now. */
static bool hand_over(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb_worker *worker = porter->worker;
    return !porter->context.draining || !bb__worker_hands_over(worker) ||
           bb__set_pass_idle(&lane->set, &porter->context, &worker->relay);
}

static void mind_drain(struct bb__porter *porter, struct bb_lane *lane)
{
    const struct bb_worker *worker = porter->worker;
    bb__set_hurry(&lane->set, worker->settings.keepalive_drain, worker->drain_began);
    bb__porter_take_queued(porter, lane);
}

/* again: ms, until something is to be tried again; -1: nothing is. */
static uint64_t next_due(const struct bb__porter *porter, const struct bb_lane *lane, int again)
{
    uint64_t now = porter->context.now;
    int wait = bb__deadline_wait(&lane->set.deadlines, now);
    if (again >= 0 && (wait < 0 || wait > again)) wait = again;
    return wait < 0 ? UINT64_MAX : now + (uint64_t)wait;
}

void bb__porter_go_on(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb_worker *worker = porter->worker;
    porter->context.deadlines = &lane->set.deadlines;
    porter->context.draining = bb__worker_drains(worker);
    bb__set_look(&lane->set, porter->context.now);
    if (porter->context.draining) mind_drain(porter, lane);
    if (lane->minded.unheard) watch(porter, lane);
    pass_ready(porter, lane);
    bool more = take_events(porter, lane);
    take_due(porter, lane);
    int again = porter->context.queue ? bb__porter_mind_queue(porter, lane) : -1;
    if (!hand_over(porter, lane) || lane->set.ready_first || lane->minded.unheard) again = BB_RETRY;
    if (!bb__porter_is_wanted(lane))
        bb__porter_limit(porter, lane); /* else the host is back: its time is not over */
    lane->minded.due = more ? porter->context.now : next_due(porter, lane, again);
    lane->set.due_back = bb__sooner(lane->minded.due, BB_NOT_DUE);
    if (porter->context.draining) bb__lane_show_done(lane);
    bb__porter_let_go(lane);
}

/* ---- the beginning ---- */

static void leave_sources(struct bb_worker *worker, struct bb_lane *lane)
{
    pthread_mutex_lock(&worker->lock);
    lane->intake.lent = true;
    bb__intake_remove_sources(&lane->intake, worker);
    bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
}

void bb__porter_begin(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb__conn *current = lane->current;
    lane->minded.has_request = current != NULL;
    lane->set.batch.count = lane->set.batch.next = 0;
    leave_sources(porter->worker, lane);
    if (current) bb__set_unwatch(&lane->set, current);
    lane->minded.unheard = true;
    bb__porter_go_on(porter, lane);
}
