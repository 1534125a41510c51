/* lane_shared.c: what a lane takes from the shared queue: connections that other lanes have passed on, with
 * the request that is to be served. */
#include "lane/lane.h"

/* A nudge (see bb__shared_queue_nudge()) says that the kernel has told another lane's set of something. This
 * lane's set learns of it when the sources are added again. If the worker has paused accepting, its lanes
 * hear of nothing, so the nudge is passed on. */
static void hear_nudge(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    bb__lane_rescan(lane);
    pthread_mutex_lock(&worker->lock);
    if (bb__worker_has_paused_accepting(worker)) bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
}

/* A nudge is not a turn of the shared queue: while all lanes are busy for long, there may be more nudges
 * than requests. */
static bool take(struct bb_lane *lane, struct bb__conn **conn)
{
    const struct bb__shared_queue *shared_queue = &lane->worker->shared_queue;
    struct bb__event_pace *lost = &lane->paces.lost;
    bool nudged = false;
    enum bb__received received;
    do {
        received = bb__conn_set_receive(&lane->set, &lane->context, shared_queue, lost, conn);
        nudged = nudged || received == BB_RECEIVED_NUDGE;
    } while (received == BB_RECEIVED_NUDGE);
    if (nudged) hear_nudge(lane);
    if (nudged || received == BB_RECEIVED_MESSAGE)
        lane->turn.told = BB_IN_A_ROW; /* the lane that was told of other events may have gone */
    return received == BB_RECEIVED_MESSAGE;
}

/* Judges lanes that show that they are idle and have let the request wait. One case may be chance: they may
 * be idle only now. */
static void judge_the_idle(const struct bb_lane *lane, const struct bb__conn *conn)
{
    const struct bb_worker *worker = lane->worker;
    if (!worker->scoreboard || conn->ready_at == 0 || lane->context.now < conn->ready_at / 1000 + BB_PROMPT)
        return;
    bb__scoreboard_blame(worker->scoreboard, worker->pid);
    bb__scoreboard_doubt(worker->scoreboard, worker->pid);
}

int bb__lane_take_shared(struct bb_lane *lane, struct bb__conn **served)
{
    struct bb__conn_context *context = &lane->context;
    struct bb__conn *conn;
    *served = NULL;
    if (!bb__lane_ensure_descriptor(lane) || !take(lane, &conn)) return BB_AGAIN;
    if (!conn) return BB_OK;
    judge_the_idle(lane, conn);
    bb__lane_make_room(lane, conn->fd);
    if (bb__lane_settle(lane, conn, bb__conn_resume(conn, context))) *served = conn;
    return BB_OK;
}
