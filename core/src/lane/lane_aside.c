/* lane_aside.c: how a worker stops accepting during out-of-band work (bb_lane_step_aside()). The host (the
 * program that calls the core: Ruby) does this work between two requests. Other workers accept the new
 * connections. For each connection the kernel wakes only one sleeping lane, because of EPOLLEXCLUSIVE. A lane
 * of this worker could not serve the connection while the out-of-band work holds the host's global lock. So
 * the listeners and the shared queue are removed from the epoll sets of all lanes of this worker. The I/O
 * thread and waiting lanes pass on requests of kept-alive connections. See bontebok.h for the contracts. */
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

/* The lane has no request, so the I/O thread sees a busy lane without a request. */
void bb_lane_begin_work(struct bb_lane *lane)
{
    if (bb__worker_is_inert(lane->worker) || !bb__lane_try_reclaim(lane)) return;
    bb__lane_keep_again(lane);
    bb__lane_release_set(lane);
}

void bb_lane_end_work(struct bb_lane *lane)
{
    if (bb__worker_is_inert(lane->worker) || lane->turn.then != BB_THEN_NOTHING) return;
    bb__lane_reclaim_set(lane, BB_THEN_LOOK);
}

void bb__lane_watch_again(struct bb_lane *lane)
{
    atomic_store(&lane->intake.unwatched, false);
    if (lane->accept.listening && !lane->accept.paused) bb__lane_resume_accepting(lane);
}
