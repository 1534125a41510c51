/* lane_relay.c: what a lane takes from the relay: connections that others have passed on, with the request
 * that is to be served. */
#include "conn_pass.h"
#include "lane.h"

static void tell_lost(struct bb_lane *lane, const char *text)
{
    const struct bb_news news = {.text = text};
    bb__news_add_paced(&lane->context.news, &lane->lost, lane->context.now, &news);
}

/* A nudge (bb__relay_nudge()) has no descriptor. The kernel has told one set of what has come, that of
 * another lane; ours learns of it when the sources are put into it. */
static bool is_nudge(const struct bb__relayed *relayed)
{
    return relayed->fd_count == 0;
}

/* A lane that stands back hears of nothing; it had been told before it did. */
static void hear_nudge(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    bb__lane_look_anew(lane);
    pthread_mutex_lock(&worker->lock);
    if (bb__worker_stands_back(worker)) bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
}

/* Nudges are no turn of the relay's: while all lanes are busy for long there may be more of them than
 * requests. */
static int take(struct bb_lane *lane, struct bb__relayed *relayed)
{
    bool nudged = false;
    int code;
    while ((code = bb__relay_take(&lane->worker->relay, lane->context.scratch, relayed)) == BB_OK &&
           is_nudge(relayed))
        nudged = true;
    if (nudged) hear_nudge(lane);
    if (nudged || code == BB_OK)
        lane->told = BB_IN_A_ROW; /* who was told of what else there is may be gone */
    return code;
}

int bb__lane_take_relayed(struct bb_lane *lane, struct bb__conn **served)
{
    struct bb__conn_context *context = &lane->context;
    struct bb__relayed relayed;
    *served = NULL;
    int code = take(lane, &relayed);
    if (code == BB_EGONE) tell_lost(lane, "a connection that was passed on is lost: no descriptors are left");
    if (code != BB_OK) return code == BB_EGONE ? BB_OK : BB_AGAIN;
    struct bb__conn *conn = bb__conn_arrive(context, context->scratch, &relayed);
    if (!conn) {
        tell_lost(lane, "a connection that was passed on is lost: no memory, or sent by another version");
        return BB_OK;
    }
    bb__set_add(&lane->set, conn);
    bb__lane_make_room(lane, conn->fd);
    if (bb__lane_settle(lane, conn, bb__conn_resume(conn, context))) *served = conn;
    return BB_OK;
}
