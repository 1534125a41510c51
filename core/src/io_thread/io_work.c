/* io_work.c: see io_work.h. */
#include "io_thread/io_work.h"

#include <errno.h>

/* How often in a row the I/O thread reads the events of one set (the connections of one lane). */
#define TURNS 4

/* ---- parts of a step ---- */

/* Whether the connection stays in the ready list, because the shared queue is full. Such connections are not
 * read, because there may be thousands of them. A pipelined request is read, because it may be for a file or
 * a probe, to which the core itself responds. */
static bool has_to_stay(struct bb_lane *lane, const struct bb__conn *conn)
{
    return lane->set.shared_queue_is_full && (conn->state != BB_CONN_HEAD || bb__io_is_wanted(lane));
}

/* Passes on the connections of the ready list, each only once, because a connection may return to the end of
 * the list. When the shared queue is full, the remaining connections move to the end of the list, in their
 * order. */
static void pass_ready(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb__conn_set *set = &lane->set;
    const struct bb__conn *last = set->ready_last;
    set->shared_queue_is_full = false;
    while (set->ready_first && (set->shared_queue_is_full || !bb__io_is_wanted(lane))) {
        struct bb__conn *conn = bb__conn_set_take_ready(set);
        bool was_last = conn == last;
        enum bb__conn_next next =
            has_to_stay(lane, conn) ? BB_CONN_AGAIN : bb__conn_resume(conn, &io->context);
        bb__io_settle(io, lane, conn, next);
        if (was_last) return;
    }
}

/* Returns whether the event belongs to a connection, which may then have more bytes to read. */
static bool take_event(struct bb__io_thread *io, struct bb_lane *lane, const struct bb__poller_event *event)
{
    struct bb__source *source = event->data.ptr;
    if (!source || source->kind != BB_SOURCE_CONN) return false;
    struct bb__conn *conn = (struct bb__conn *)source;
    if (conn->set.is_ready) return false;
    bb__io_settle(io, lane, conn, bb__conn_on_ready(conn, &io->context, event->events));
    return true;
}

/* Reads the set's events until none is left, because the I/O thread's poller reports the set only once
 * (edge-triggered). After TURNS reads, other sets are next. If the lane wants its set back, the remaining
 * events are dropped, because the set's poller reports them to the lane again. Returns true if there may be
 * more events. */
static bool take_events(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb__batch *batch = &lane->set.batch;
    bool more = true;
    for (int turn = 0; more && turn < TURNS && !bb__io_is_wanted(lane); turn++) {
        if (bb__poller_wait(&lane->set.poller, batch, 0) != BB_OK) bb__io_note_trouble(io, errno);
        more = batch->count == BB_BATCH;
        while (!bb__batch_empty(batch) && !bb__io_is_wanted(lane))
            more = take_event(io, lane, &batch->events[batch->next++]) || more;
    }
    batch->count = batch->next = 0;
    return more;
}

static void take_due(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb__timeout *due;
    while (!bb__io_is_wanted(lane) && (due = bb__timeout_take_due(&lane->set.timeouts, io->context.now))) {
        struct bb__conn *conn = bb__conn_of_timeout(due);
        bb__io_settle(io, lane, conn, bb__conn_on_timeout(conn, &io->context));
    }
}

static void watch(struct bb__io_thread *io, struct bb_lane *lane)
{
    static struct bb__source held = {BB_SOURCE_SET};
    lane->watched.unheard = bb__poller_add_poller(&io->link.queue, &lane->set.poller, &held) != BB_OK;
    if (lane->watched.unheard) bb__io_note_trouble(io, errno);
}

/* ---- one step ---- */

static void enter(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb_worker *worker = io->worker;
    io->context.timeouts = &lane->set.timeouts;
    io->context.draining = bb__worker_drains(worker);
    bb__conn_set_look(&lane->set, io->context.now);
    if (io->context.draining) {
        bb__conn_set_hurry(&lane->set, worker->settings.keepalive_drain, worker->drain.began);
        bb__io_take_queued(io, lane);
    }
    if (atomic_load_explicit(&worker->has_news, memory_order_relaxed))
        bb__lane_take_lingering(lane, &io->context);
    if (lane->watched.unheard) watch(io, lane);
}

/* If this worker drains (ends gracefully) and other workers continue, passes the idle connections on to the
 * other workers. Returns false if some connections could not be passed on now. */
static bool hand_over(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb_worker *worker = io->worker;
    return !io->context.draining || !bb__worker_hands_over(worker) ||
           bb__conn_set_pass_idle(&lane->set, &io->context, &worker->shared.queue);
}

/* Returns ms until the next attempt; -1: nothing is left to try. */
static int pass_on(struct bb__io_thread *io, struct bb_lane *lane)
{
    int again = io->context.admission ? bb__io_check_queue(io, lane) : -1;
    bool all = hand_over(io, lane) && !lane->set.ready_first && !lane->watched.unheard;
    return all ? again : BB_RETRY;
}

/* Notes when the next step is due. again: the result of pass_on(). */
static void schedule(const struct bb__io_thread *io, struct bb_lane *lane, bool more, int again)
{
    uint64_t now = io->context.now;
    int wait = more ? 0 : bb__timeout_wait(&lane->set.timeouts, now);
    if (again >= 0 && (wait < 0 || wait > again)) wait = again;
    lane->watched.due = wait < 0 ? UINT64_MAX : now + (uint64_t)wait;
    lane->set.due_back = bb__sooner(lane->watched.due, BB_NOT_DUE);
}

void bb__io_go_on(struct bb__io_thread *io, struct bb_lane *lane)
{
    enter(io, lane);
    pass_ready(io, lane);
    bool more = take_events(io, lane);
    take_due(io, lane);
    int again = pass_on(io, lane);
    if (!bb__io_is_wanted(lane)) bb__io_limit(io, lane); /* else the host has ended its request in time */
    schedule(io, lane, more, again);
    if (io->context.draining) bb__lane_show_done(lane);
    bb__conn_set_show(&lane->set, lane->context.counts.own);
    bb__io_let_go(lane);
}

/* ---- the first step ---- */

static void leave_sources(struct bb_worker *worker, struct bb_lane *lane)
{
    pthread_mutex_lock(&worker->lock);
    lane->intake.held = true;
    bb__intake_remove_sources(&lane->intake, worker);
    bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
}

void bb__io_begin(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb__conn *current = lane->current;
    lane->watched.has_request = current != NULL;
    lane->set.batch.count = lane->set.batch.next = 0;
    bb__lane_keep_again(lane);
    leave_sources(io->worker, lane);
    if (current) bb__conn_set_unwatch(&lane->set, current);
    lane->watched.unheard = true;
    bb__io_go_on(io, lane);
}
