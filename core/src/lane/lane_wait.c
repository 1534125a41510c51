/* lane_wait.c: how a lane waits for events, and sends files of `public` meanwhile, because the host's lock is
 * free. See bontebok.h for the contracts. */
#include "lane/lane.h"

#include <errno.h>
#include <poll.h>

/* other: ms; -1: no limit. */
static int sooner(int wait, int other)
{
    return wait < 0 || (other >= 0 && other < wait) ? other : wait;
}

static int wait_time(struct bb_lane *lane)
{
    uint64_t now = bb__clock_ms();
    bool has_more = lane->pick.pauses || lane->set.ready_first;
    int wait = has_more ? 0 : bb__timeout_wait(&lane->set.timeouts, now);
    if (lane->accept.paused) {
        uint64_t resume = bb__lane_resumes(lane);
        wait = sooner(wait, resume > now ? (int)(resume - now) : 0);
    }
    uint64_t avoids = lane->canary.avoids_until;
    if (avoids > 0) wait = sooner(wait, avoids > now ? (int)(avoids - now) : 0);
    if (lane->drain.handing_over || lane->drain.standing_by) wait = sooner(wait, BB_RETRY);
    if (lane->context.log) wait = sooner(wait, bb__access_log_wait(lane->context.log, now));
    uint64_t reports = bb__conn_reports_due(&lane->context);
    if (reports != UINT64_MAX) wait = sooner(wait, reports > now ? (int)(reports - now) : 0);
    lane->set.due_back = wait < 0 ? BB_NOT_DUE : now + (uint64_t)wait;
    return wait;
}

/* epoll fails if the application has closed a descriptor of the core. The pause prevents a busy loop. */
static void rest(struct bb_lane *lane, int error)
{
    struct pollfd wake = {.fd = lane->intake.wakeup.fd, .events = POLLIN};
    const struct bb_event event = {.error = error,
                                   .text = "the poller failed: a thread gets no events of its clients"};
    bb__event_add_paced(&lane->context.events, &lane->paces.lost, lane->context.now, &event);
    (void)poll(&wake, 1, BB_RETRY);
}

/* Shows the lane's state before each wait, because a lane that sends files may go on for long without its
 * host. Another process may have taken it for frozen. */
static void wait_for_events(struct bb_lane *lane)
{
    struct bb__slot *slot = lane->intake.slot;
    bb__conn_set_show(&lane->set, lane->context.counts.own);
    bb__scoreboard_set_idle(slot, true);
    if (slot) atomic_store_explicit(&slot->files, lane->context.files_sent, memory_order_relaxed);
    if (bb__poller_wait(&lane->set.poller, &lane->set.batch, wait_time(lane)) != BB_OK) rest(lane, errno);
}

/* Handles the events of connections until one has a request for the host. True: all events are handled, and
 * nothing is left for the host. The host's lock is free meanwhile. */
static bool send_files(struct bb_lane *lane)
{
    struct bb__batch *batch = &lane->set.batch;
    if (batch->count == 0 || lane->context.draining) return false;
    lane->context.now = bb__clock_ms();
    bb__conn_set_look(&lane->set, lane->context.now);
    while (!bb__batch_empty(batch)) {
        const struct bb__poller_event *event = &batch->events[batch->next];
        struct bb__source *source = event->data.ptr;
        if (source && source->kind != BB_SOURCE_CONN) return false;
        batch->next++;
        struct bb__conn *conn = (struct bb__conn *)source;
        if (!conn || conn->set.is_ready) continue;
        if (!bb__lane_settle(lane, conn, bb__conn_on_ready(conn, &lane->context, event->events))) continue;
        lane->pick.found = conn;
        return false;
    }
    return !lane->set.ready_first && lane->context.events.count == 0 &&
           !bb__worker_is_over_limit(lane->worker) &&
           !atomic_load_explicit(&lane->worker->has_news, memory_order_relaxed);
}

/* Whether files were sent since the host last asked for a request. Then the next requests are probably for
 * files, too. Otherwise the host reads them, because that costs less. */
static bool has_sent_files(const struct bb_lane *lane)
{
    return lane->context.files_sent != lane->pick.files;
}

/* Handles what a lane handles while it waits. True: the lane goes on waiting. */
static bool waits_on(struct bb_lane *lane)
{
    const struct bb_worker *worker = lane->worker;
    bool pauses = bb__worker_has_paused_accepting(worker) && worker->aside != &lane->intake;
    if (pauses && bb__lane_pass_all(lane)) return true;
    bb__lane_after_look(lane);
    return has_sent_files(lane) && !pauses && send_files(lane) && wait_time(lane) != 0;
}

int bb_lane_wait(struct bb_lane *lane)
{
    if (bb__worker_is_inert(lane->worker)) return BB_OK;
    if (lane->turn.then == BB_THEN_WAKE) (void)bb__lane_try_reclaim(lane);
    if (lane->turn.then != BB_THEN_NOTHING) {
        bb__lane_await_set(lane);
        return BB_OK;
    }
    bb__lane_keep_again(lane); /* the host waits once more before it takes the request that was found */
    if (atomic_load_explicit(&lane->intake.unwatched, memory_order_relaxed)) bb__lane_watch_again(lane);
    bb__sample_settle(&lane->sample);
    atomic_store(&lane->intake.waiting, true);
    do wait_for_events(lane);
    while (waits_on(lane));
    bb__scoreboard_set_idle(lane->intake.slot, false);
    if (lane->context.log && lane->set.batch.count == 0) bb__lane_log_idle(lane);
    for (int i = 0; i < lane->set.batch.count; i++)
        if (lane->set.batch.events[i].data.ptr == &lane->wake_source) bb__wakeup_clear(&lane->intake.wakeup);
    lane->pick.busy = lane->set.batch.count >= 2;
    lane->pick.looked = false;
    bb__lane_release_woken(lane);
    return BB_OK;
}

void bb_lane_wake(struct bb_lane *lane)
{
    if (!bb__worker_is_inert(lane->worker)) bb__wakeup_raise(&lane->intake.wakeup);
}
