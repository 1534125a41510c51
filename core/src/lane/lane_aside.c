/* lane_aside.c: how a worker stands back for a while between two requests: no new connection wakes it, those
 * that come are for its siblings. See bontebok.h for the contracts.
 *
 * A connection wakes one of all the lanes that wait for it (EPOLLEXCLUSIVE), one that sleeps. The lane that
 * steps aside does not sleep and is passed over anyway; but its worker's other lanes would be woken, and
 * could do nothing for as long as the host keeps them (a global lock). So the sources leave every set.
 * Connections that are kept alive the porter has meanwhile, or lanes that wait pass on. */
#include "lane/lane.h"

static bool others_serve(const struct bb_lane *self)
{
    for (const struct bb_lane *lane = self->worker->lanes; lane; lane = lane->next)
        if (lane != self && !atomic_load(&lane->on_call)) return true;
    return false;
}

/* A mere look: what it finds stays for bb_lane_wait(). */
static bool has_come(struct bb_lane *lane)
{
    struct bb__batch found;
    bb__poller_wait(&lane->set.poller, &found, 0);
    return found.count > 0;
}

/* Of another thread's lane only that thread can say what is to be done when there is no room in the set. */
static void put_back(struct bb_lane *lane)
{
    if (!lane->watching || bb__lane_add_sources(lane)) return;
    atomic_store(&lane->unwatched, true);
    bb__event_raise(lane->wake_fd);
}

static void put_others_back(struct bb_lane *self)
{
    for (struct bb_lane *lane = self->worker->lanes; lane; lane = lane->next)
        if (lane != self) put_back(lane);
}

/* The lane's own set goes last: one of the others may have been woken for what is queued, and if so it is
 * seen there. What comes later wakes none of ours. */
static bool leave(struct bb_lane *self, enum bb_aside when)
{
    for (struct bb_lane *lane = self->worker->lanes; lane; lane = lane->next)
        if (lane != self) bb__lane_remove_sources(lane);
    if (when == BB_ASIDE_IDLE && has_come(self)) {
        put_others_back(self);
        return false;
    }
    bb__lane_remove_sources(self);
    return true;
}

void bb__lane_keep_again(struct bb_lane *lane)
{
    if (lane->again) (void)bb__lane_settle(lane, lane->again, BB_CONN_AGAIN);
    lane->again = NULL;
}

static void let_go(struct bb_lane *lane)
{
    bb__lane_keep_again(lane);
    bb__lane_leaves(lane);
}

int bb_lane_step_aside(struct bb_lane *lane, enum bb_aside when)
{
    struct bb_worker *worker = lane->worker;
    if (bb__worker_is_inert(worker) || lane->then != BB_THEN_NOTHING) return BB_AGAIN;
    pthread_mutex_lock(&worker->lock);
    if (!worker->aside && !bb__worker_drains(worker) && !(when == BB_ASIDE_IDLE && others_serve(lane)) &&
        leave(lane, when))
        worker->aside = lane;
    bool done = worker->aside == lane;
    if (done) bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
    if (!done) return BB_AGAIN;
    let_go(lane);
    return BB_OK;
}

void bb_lane_step_back(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    if (bb__worker_is_inert(worker) || lane->then != BB_THEN_NOTHING) return;
    if (worker->aside == lane) bb__lane_returns(lane, BB_THEN_STEP_BACK);
}

void bb__lane_step_back(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    pthread_mutex_lock(&worker->lock);
    worker->aside = NULL;
    put_others_back(lane);
    put_back(lane);
    pthread_mutex_unlock(&worker->lock);
}

void bb__worker_withdraw(struct bb_worker *worker, bool withdraw)
{
    pthread_mutex_lock(&worker->lock);
    atomic_store(&worker->withdrawn, withdraw);
    for (struct bb_lane *lane = worker->lanes; lane; lane = lane->next) {
        if (withdraw)
            bb__lane_remove_sources(lane);
        else
            put_back(lane);
    }
    if (withdraw) bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
}

void bb__lane_watch_again(struct bb_lane *lane)
{
    atomic_store(&lane->unwatched, false);
    if (lane->listening && !lane->paused) bb__lane_resume_accepting(lane);
}
