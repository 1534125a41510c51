/* lane_life.c: creates and frees lanes (one per thread that serves requests). See bontebok.h for the
 * contracts. */
#include "lane/lane.h"

#include <stdlib.h>

static int prepare_set(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    lane->wake_source.kind = BB_SOURCE_WAKE;
    int code = bb__wakeup_open(&lane->intake.wakeup);
    if (code == BB_OK) code = bb__conn_set_open(&lane->set, &worker->settings, &worker->room.connections);
    struct bb__poller *poller = &lane->set.poller;
    if (code == BB_OK)
        code = bb__poller_add(poller, lane->intake.wakeup.fd, BB_INTEREST_READ, &lane->wake_source);
    if (code == BB_OK)
        code = bb__poller_add(poller, worker->drain.wakeup.fd, BB_INTEREST_READ, &worker->drain.source);
    return code;
}

/* A lane without a slot counts in the common block. */
static void begin_to_count(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    struct bb__counts *counts = &lane->context.counts;
    if (counts->metrics && lane->intake.slot)
        counts->own =
            bb__metrics_begin(counts->metrics, bb__scoreboard_number(worker->scoreboard, lane->intake.slot),
                              worker->metrics.number, worker->metrics.generation);
    bb__sample_init(&lane->sample, counts);
}

/* Called before the lane gives its slot back, because the slot's next lane writes the block. */
static void end_to_count(struct bb_lane *lane)
{
    bb__sample_settle(&lane->sample);
    bb__metrics_end(lane->context.counts.own);
}

void bb_lane_show_thread(struct bb_lane *lane)
{
    if (!bb__worker_is_inert(lane->worker)) bb__metrics_show_thread(lane->context.counts.own);
}

int bb_lane_new(struct bb_lane **created, struct bb_worker *worker)
{
    if (bb__worker_is_inert(worker)) return BB_DRAINED;
    struct bb_lane *lane = calloc(1, sizeof *lane);
    if (!lane) return BB_ENOMEM;
    lane->worker = worker;
    (void)pthread_mutex_init(&lane->reply.gather.lock, NULL); /* cannot fail for a default mutex */
    lane->intake.poller = &lane->set.poller;
    lane->intake.wakeup.fd = lane->set.poller.fd = -1;
    int code = bb__conn_context_open(&lane->context, worker);
    lane->attends = lane->context.log || worker->settings.check_client_connection > 0;
    lane->context.timeouts = &lane->set.timeouts;
    if (code == BB_OK) code = prepare_set(lane);
    if (code != BB_OK) {
        bb_lane_free(lane);
        return code;
    }
    if (worker->scoreboard) lane->intake.slot = bb__scoreboard_claim(worker->scoreboard);
    begin_to_count(lane);
    bb__worker_add_lane(worker, &lane->intake);
    lane->was_added = true;
    bb__lane_listen(lane);
    *created = lane;
    return BB_OK;
}

/* True in a forked child if the parent's I/O thread was using the lane's set of connections, or was sending
 * bytes of its response (reply_gather.c), at the fork. The child has no I/O thread, so the set may be half
 * changed. */
static bool is_left_halfway(struct bb_lane *lane)
{
    if (!bb__worker_is_inert(lane->worker)) return false;
    enum bb__owner_state state = bb__owner_state_of(bb__owner_look(&lane->owner));
    if (state == BB_OWNER_WORKING || state == BB_OWNER_RECLAIMED) return true;
    bool is_free = pthread_mutex_trylock(&lane->reply.gather.lock) == 0;
    if (is_free) pthread_mutex_unlock(&lane->reply.gather.lock);
    return !is_free;
}

void bb_lane_free(struct bb_lane *lane)
{
    if (!lane) return;
    bool inert = bb__worker_is_inert(lane->worker);
    bb_reply_abort(lane);
    bb_lane_step_back(lane);
    if (!inert && bb__io_hangs(lane->worker->io)) return;
    while (!inert && !bb__lane_try_reclaim(lane)) bb__lane_await_set(lane);
    if (lane->context.log && !inert) bb__lane_log_flush(lane);
    while (lane->set.conns && !is_left_halfway(lane)) {
        enum bb__conn_end end = inert ? BB_CONN_END_ABANDON : bb__conn_end_of(lane->set.conns);
        bb__conn_set_end(&lane->set, &lane->context, lane->set.conns, end);
    }
    if (lane->accept.listening && !inert) bb__worker_lane_stops(lane->worker);
    if (lane->was_added && !inert) bb__worker_remove_lane(lane->worker, &lane->intake);
    if (!inert) {
        end_to_count(lane);
        bb__scoreboard_give_back(lane->intake.slot);
    }
    bb__conn_set_close(&lane->set);
    bb__wakeup_close(&lane->intake.wakeup);
    bb__buf_free(&lane->reply.staged);
    if (!inert) (void)pthread_mutex_destroy(&lane->reply.gather.lock);
    bb__conn_context_close(&lane->context);
    free(lane);
}
