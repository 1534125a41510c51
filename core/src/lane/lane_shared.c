/* lane_shared.c: how a lane takes connections that were passed on: from the shared queue, where most of the
 * connections have a complete request, and those of ended streams. */
#include "lane/lane.h"

#include <stdlib.h>

/* A nudge is a message without a connection (bb__shared_queue_nudge()). A nudge means that the kernel has
 * reported an event of a source (a listener or the shared queue) to another lane, which may be busy. This
 * lane adds the sources to its set again, and the kernel reports the event again. If the worker has paused
 * accepting, this lane adds no sources, and wakes another lane with a nudge. */
static void hear_nudge(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    bb__lane_rescan(lane);
    pthread_mutex_lock(&worker->lock);
    if (bb__worker_has_paused_accepting(worker)) bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
}

/* Takes a message. Skips nudges. If all lanes were busy for long, there may be more nudges than requests. */
static bool take(struct bb_lane *lane, struct bb__conn **conn)
{
    const struct bb__shared_queue *shared_queue = &lane->worker->shared.queue;
    struct bb__event_pace *lost = &lane->paces.lost;
    bool nudged = false;
    enum bb__received received;
    lane->context.group = bb__lane_group(lane);
    do {
        received = bb__conn_set_receive(&lane->set, &lane->context, shared_queue, lost, conn);
        nudged = nudged || received == BB_RECEIVED_NUDGE;
    } while (received == BB_RECEIVED_NUDGE);
    if (nudged) hear_nudge(lane);
    if (received == BB_RECEIVED_OTHERS) bb__lane_avoid_shared_queue(lane);
    if (received == BB_RECEIVED_LOST) atomic_store(&lane->worker->room.exhausted, true);
    /* The kernel may have reported events to a lane that has ended, so the I/O thread must watch. */
    if (nudged || received >= BB_RECEIVED_MESSAGE) lane->turn.not_alone = BB_IN_A_ROW;
    return received >= BB_RECEIVED_MESSAGE;
}

/* If the request has waited for BB_PROMPT ms although lanes of other processes show that they are idle,
 * checks these lanes (scoreboard.h). Lanes that were already marked as doubted do not count as idle any more.
 * The other lanes are only marked as doubted, because they may have become idle just now. */
static void judge_the_idle(const struct bb_lane *lane, const struct bb__conn *conn)
{
    const struct bb_worker *worker = lane->worker;
    bool has_request = conn->wait.queued_at > 0;
    if (!worker->scoreboard || !has_request || conn->wait.ready_at == 0 ||
        lane->context.now < conn->wait.ready_at / 1000 + BB_PROMPT)
        return;
    bb__scoreboard_blame(worker->scoreboard, worker->pid);
    bb__scoreboard_doubt(worker->scoreboard, worker->pid);
}

int bb__lane_take_shared(struct bb_lane *lane, struct bb__conn **served)
{
    struct bb__conn_context *context = &lane->context;
    struct bb__conn *conn;
    *served = NULL;
    if (!bb__lane_ensure_descriptors(lane) || !take(lane, &conn)) return BB_AGAIN;
    if (!conn) return BB_OK;
    judge_the_idle(lane, conn);
    bb__lane_make_room(lane, conn);
    if (bb__lane_settle(lane, conn, bb__conn_resume(conn, context))) *served = conn;
    return BB_OK;
}

static bool has_room(const struct bb_worker *worker, int fd)
{
    return bb__worker_has_room(worker) && fd < worker->room.reserve;
}

void bb__lane_take_lingering(struct bb_lane *lane, struct bb__conn_context *context)
{
    struct bb__lingering *next, *each = bb__worker_take_lingering(lane->worker);
    for (; each; each = next) {
        struct bb__conn *conn = NULL;
        next = each->next;
        if (has_room(lane->worker, each->fd))
            conn = bb__conn_set_take(&lane->set, context, each->fd, each->listener, &each->peer);
        else
            bb__sock_close(each->fd);
        free(each);
        if (conn) (void)bb__conn_set_settle(&lane->set, context, conn, bb__conn_linger(conn, context));
    }
}
