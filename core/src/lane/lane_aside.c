/* lane_aside.c: how a worker steps aside for a while between two requests. No new connection wakes it; other
 * workers take those that come. See bontebok.h for the contracts. A connection wakes one of all the sleeping
 * lanes that wait for it (EPOLLEXCLUSIVE). The lane that steps aside does not sleep, so it is passed over.
 * But other lanes of its worker would be woken, and could do nothing while the host holds a global lock. So
 * the sources leave every set. The I/O thread has the kept-alive connections meanwhile, or waiting lanes
 * pass them on. */
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
