/* lane_aside.c: how a worker stands back for a while between two requests: no new connection wakes it, those
 * that come are for its siblings. See bontebok.h for the contracts.
 *
 * A connection wakes one of all the lanes that wait for it (EPOLLEXCLUSIVE), one that sleeps. The lane that
 * steps aside does not sleep and is passed over anyway; but its worker's other lanes would be woken, and
 * could do nothing for as long as the host keeps them (a global lock). So the sources leave every set.
 * Connections that are kept alive the I/O thread has meanwhile, or lanes that wait pass on. */
#include "lane/lane.h"

static void let_go(struct bb_lane *lane)
{
    bb__lane_keep_again(lane);
    bb__lane_release_set(lane);
}

int bb_lane_step_aside(struct bb_lane *lane, enum bb_aside when)
{
    struct bb_worker *worker = lane->worker;
    if (bb__worker_is_inert(worker) || lane->turn.then != BB_THEN_NOTHING) return BB_AGAIN;
    if (!bb__worker_step_aside(worker, &lane->intake, when)) return BB_AGAIN;
    let_go(lane);
    return BB_OK;
}

void bb_lane_step_back(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    if (bb__worker_is_inert(worker) || lane->turn.then != BB_THEN_NOTHING) return;
    if (worker->aside == &lane->intake) bb__lane_reclaim_set(lane, BB_THEN_STEP_BACK);
}

void bb__lane_watch_again(struct bb_lane *lane)
{
    atomic_store(&lane->intake.unwatched, false);
    if (lane->accept.listening && !lane->accept.paused) bb__lane_resume_accepting(lane);
}
