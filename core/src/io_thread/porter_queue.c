/* porter_queue.c: while no lane of any process is idle nobody looks at those who wait for one: new
 * connections in the listeners' queues, requests in the relay. Where MaxQueue or QueueTimeout says that they
 * may not wait for ever, the porter of a lane that is busy does. It also takes the connections that were
 * queued when the worker began to drain. See porter_work.h. */
#include "conn/conn_queue.h"
#include "io_thread/porter_work.h"

#include <stdlib.h>

/* Connections in a row of one listener. */
#define ACCEPTS_MAX 64

static bool nobody_is_idle(const struct bb_worker *worker)
{
    return bb__board_idle(worker->board, 1) == 0;
}

/* ---- new connections ---- */

/* The lock: listeners may be about to be closed. BB_DRAINED: there is no such listener, or none any more. */
static int accept_from(struct bb_worker *worker, int index, int *fd, char *peer)
{
    int code = BB_DRAINED;
    pthread_mutex_lock(&worker->lock);
    if (index < bb__worker_count_open(worker)) code = bb__sock_accept(worker->listeners[index].fd, fd, peer);
    pthread_mutex_unlock(&worker->lock);
    return code;
}

static int take_over(struct bb__porter *porter, struct bb_lane *lane, int fd,
                     const struct bb__listener *listener, const char *peer)
{
    struct bb__conn *conn = bb__set_accept(&lane->set, &porter->context, fd, listener->number, peer);
    if (!conn) return BB_ENOMEM;
    conn->tcp = listener->tcp;
    (void)bb__worker_find_room(porter->worker, fd);
    bb__porter_settle(porter, lane, conn, bb__conn_on_ready(conn, &porter->context, BB_INTEREST_READ));
    return BB_OK;
}

static int accept_one(struct bb__porter *porter, struct bb_lane *lane, int index)
{
    const struct bb__listener *listener = &porter->worker->listeners[index];
    char peer[BB_PEER_MAX];
    int fd;
    int code = accept_from(porter->worker, index, &fd, peer);
    return code == BB_OK ? take_over(porter, lane, fd, listener, peer) : code;
}

/* What cannot be accepted stays where it is, and lanes tell of it. */
static void accept_all(struct bb__porter *porter, struct bb_lane *lane)
{
    int code = BB_OK;
    for (int index = 0; index < BB_LISTENERS_MAX && code != BB_DRAINED; index++) {
        code = BB_OK;
        for (int count = 0; count < ACCEPTS_MAX && code == BB_OK; count++) {
            if (!bb__worker_has_room(porter->worker) || bb__porter_is_wanted(lane)) return;
            code = accept_one(porter, lane, index);
        }
    }
}

void bb__porter_take_queued(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb__queued *queued;
    while (!bb__porter_is_wanted(lane) && (queued = bb__worker_take_queued(porter->worker))) {
        uint64_t seen = porter->context.seen;
        porter->context.seen = queued->came;
        (void)take_over(porter, lane, queued->fd, queued->listener, queued->peer);
        porter->context.seen = seen;
        free(queued);
    }
}

/* ---- those who wait ---- */

/* Also one without a request, which those behind it must not wait for. */
static bool is_overdue(const struct bb__porter *porter, const struct bb__relay_stamp *first)
{
    uint64_t limit = porter->worker->settings.queue_timeout * 1000, now = bb__clock_us();
    return now > first->since && now - first->since >= limit;
}

/* False: there is none. A lane may have taken the one that was looked at, and this is the next: if its time
 * is not over it goes to the end. */
static bool take_first(struct bb__porter *porter, struct bb_lane *lane, bool *nudged)
{
    struct bb__conn_context *context = &porter->context;
    struct bb__conn *conn;
    int code = bb__set_receive(&lane->set, context, &porter->worker->relay, &porter->lost, &conn);
    if (code == BB_AGAIN) return false;
    *nudged = *nudged || code == BB_NEWS;
    if (!conn) return true;
    (void)bb__worker_find_room(porter->worker, conn->fd);
    bb__porter_settle(porter, lane, conn, bb__conn_resume(conn, context));
    return true;
}

static void answer_overdue(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb_worker *worker = porter->worker;
    struct bb__relay_stamp first;
    bool nudged = false;
    while (!bb__porter_is_wanted(lane) && bb__worker_has_room(worker) &&
           bb__relay_look(&worker->relay, &first) == BB_OK && is_overdue(porter, &first))
        if (!take_first(porter, lane, &nudged)) break;
    if (nudged) bb__relay_nudge(&worker->relay);
}

static void usher(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb_worker *worker = porter->worker;
    if (!bb__board_begin_to_usher(worker->board, worker->pid)) return;
    answer_overdue(porter, lane);
    bb__board_end_to_usher(worker->board);
}

/* The wake-up may have gone to a lane that was stopped: another one is to look. */
static bool is_left_waiting(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool waits = bb__worker_is_awaited(worker);
    if (waits) bb__relay_nudge(&worker->relay);
    pthread_mutex_unlock(&worker->lock);
    return waits;
}

/* Lanes that let something wait, although they say that they are idle. */
static void judge_the_idle(struct bb__porter *porter)
{
    struct bb_worker *worker = porter->worker;
    uint64_t now = porter->context.now;
    if (!is_left_waiting(worker)) {
        porter->waits_since = 0;
    } else if (porter->waits_since == 0) {
        porter->waits_since = now;
        bb__board_doubt(worker->board, worker->pid);
    } else if (now - porter->waits_since >= BB_PROMPT) {
        porter->waits_since = 0;
        bb__board_blame(worker->board, worker->pid);
    }
}

int bb__porter_mind_queue(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb_worker *worker = porter->worker;
    struct bb__relay_stamp first;
    if (bb__worker_drains(worker)) return -1;
    if (!nobody_is_idle(worker)) judge_the_idle(porter);
    bool on_our_own = nobody_is_idle(worker);
    if (on_our_own) accept_all(porter, lane);
    if (worker->settings.queue_timeout > 0) usher(porter, lane);
    bool soon = on_our_own || porter->waits_since > 0 || bb__relay_look(&worker->relay, &first) == BB_OK;
    return soon ? BB_RETRY : BB_PROMPT;
}
