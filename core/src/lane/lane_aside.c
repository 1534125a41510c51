/* lane_aside.c: how a worker stops accepting for a while, between two requests (bb_lane_step_aside()). Other
 * workers take the new connections. A connection wakes one sleeping lane that waits for it (EPOLLEXCLUSIVE).
 * That could be a lane of this worker, which can do nothing while the host holds its global lock. So the
 * sources leave the sets of all its lanes. The I/O thread or waiting lanes pass on requests of kept-alive
 * connections. See bontebok.h for the contracts. */
#include "lane/lane.h"

int bb_lane_step_aside(struct bb_lane *lane, enum bb_aside when)
{
    struct bb_worker *worker = lane->worker;
    if (bb__worker_is_inert(worker) || lane->turn.then != BB_THEN_NOTHING) return BB_AGAIN;
    if (!bb__worker_step_aside(worker, &lane->intake, when)) return BB_AGAIN;
    bb__lane_keep_again(lane);
    bb__lane_release_set(lane);
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
