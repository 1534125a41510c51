/* lane_canary.c: while the workers of a new release serve beside the former workers, each group of workers
 * gets its share of the requests on kept-alive connections (canary.h). After a response, a lane passes the
 * idle connection on if the next request is for the other group.
 *
 * The kernel may wake a lane of the wrong group for the message. This lane sends the message back, and keeps
 * away from the shared queue for a moment, so that the kernel wakes other lanes. */
#include "lane/lane.h"

/* If the next request has come already, the connection is not passed on, because the request would wait. */
static bool is_idle(const struct bb__conn *conn)
{
    return conn->state == BB_CONN_HEAD && !bb__sock_has_bytes(conn->fd);
}

void bb__lane_place(struct bb_lane *lane, struct bb__conn *conn)
{
    struct bb_scoreboard *scoreboard = lane->worker->scoreboard;
    enum bb__group own = bb__lane_group(lane), other = bb__canary_other(own);
    uint64_t now = lane->context.now;
    bool gives = own != BB_GROUP_ANY && lane->worker->shared.queue.has_peers &&
                 bb__canary_gives(scoreboard, own, now) && is_idle(conn) &&
                 bb__canary_begin_passing(scoreboard, now);
    if (!gives)
        (void)bb__lane_settle(lane, conn, BB_CONN_WAIT);
    else if (bb__conn_set_pass_one_idle(&lane->set, &lane->context, conn, &lane->worker->shared.queue, other))
        bb__lane_avoid_shared_queue(lane);
    else
        gives = false;
    if (own != BB_GROUP_ANY) bb__canary_note(scoreboard, gives ? other : own);
}
