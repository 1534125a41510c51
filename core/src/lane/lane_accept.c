/* lane_accept.c: how a lane accepts connections: when it calls accept4 again, what it does if descriptors run
 * out, and how it stops without losing queued connections. */
#include "lane/lane.h"

#include <errno.h>
#include <stdlib.h>

/* ms. If a worker has had no connection and no free descriptor for this time, the worker asks its parent
 * process for a replacement. */
#define STARVED_TIME 5000

/* ms. A smaller result of bb__sock_silence() may be an effect of the kernel's tick. */
#define QUEUED_MIN 5

void bb__lane_listen(struct bb_lane *lane)
{
    lane->accept.listening = true;
    bb__worker_lane_listens(lane->worker);
    bb__lane_watch_sources(lane);
}

/* Called if a listener cannot accept any more, for example because another process has shut it down. The
 * poller would report the listener for ever, although its accept queue is empty. */
static void give_up(struct bb_lane *lane, const struct bb__listener *listener, int error)
{
    struct bb_worker *worker = lane->worker;
    pthread_mutex_lock(&worker->lock);
    worker->listen.listeners[listener - worker->listen.listeners].useless = true;
    pthread_mutex_unlock(&worker->lock);
    bb__event_add(&lane->context.events, 0, error, "accept failed: a listener is not used any more", NULL);
    bb__poller_remove(&lane->set.poller, listener->fd);
}

void bb__lane_on_listener(struct bb_lane *lane, const struct bb__listener *listener, uint32_t events,
                          bool others_wait)
{
    if (events & BB_INTEREST_TROUBLE) {
        give_up(lane, listener, 0);
        return;
    }
    lane->accept.from = listener;
    lane->accept.count = 0;
    bool may = !others_wait && lane->shares.mean < BB_SHARE_WORTH;
    lane->accept.try_more =
        may && (lane->accept.last_streak >= 2 || ++lane->accept.probe % BB_PROBE_EVERY == 0);
}

static void end_streak(struct bb_lane *lane)
{
    bb__lane_take_turns(lane);
    lane->accept.last_streak = lane->accept.count;
    lane->accept.from = NULL;
}

void bb__lane_resume_accepting(struct bb_lane *lane)
{
    lane->accept.paused = false;
    lane->accept.sweeps = true;
    bb__scoreboard_set_paused(lane->intake.slot, false);
    if (lane->context.draining)
        bb__lane_stop_accepting(lane);
    else
        bb__lane_watch_sources(lane);
}

/* Called if no connection can be closed for a new one. If the worker has no connection at all, other code of
 * the process has all descriptors. */
static void note_starving(struct bb_lane *lane, int error)
{
    struct bb_worker *worker = lane->worker;
    uint64_t now = lane->context.now, since = atomic_load(&worker->room.starved);
    if (error != EMFILE || atomic_load(&worker->room.connections) > 0) {
        atomic_store(&worker->room.starved, 0);
    } else if (since == 0) {
        atomic_store(&worker->room.starved, now);
    } else if (bb__elapsed(now, since) >= STARVED_TIME && worker->parent.fd >= 0) {
        atomic_store(&worker->room.starved, now);
        bb__worker_tell_parent(worker, BB_TELL_STARVED);
        bb__event_add(&lane->context.events, 0, error, "wants to be replaced: no connection can be accepted",
                      NULL);
    }
}

/* Another lane may set one of the fields after this lane has reset the other, so each has its own check. */
static void note_accepted(struct bb_worker *worker)
{
    if (atomic_load_explicit(&worker->room.exhausted, memory_order_relaxed))
        atomic_store(&worker->room.exhausted, false);
    if (atomic_load_explicit(&worker->room.starved, memory_order_relaxed) > 0)
        atomic_store(&worker->room.starved, 0);
}

static int accept_with_room(struct bb_lane *lane, const struct bb__listener *listener, int *fd,
                            struct bb__peer *peer)
{
    struct bb_worker *worker = lane->worker;
    int code = bb__worker_accept(worker, listener, fd, peer);
    if (code != BB_ESYSTEM) {
        if (code == BB_OK) note_accepted(worker);
        return code;
    }
    int error = errno;
    if (bb__worker_has_closed(worker)) return BB_AGAIN;
    if (bb__sock_is_useless(error)) {
        give_up(lane, listener, error);
        return code;
    }
    bb__lane_note_exhausted(lane, error);
    if (bb__sock_is_exhaustion(error) &&
        (bb__lane_close_least_missed(lane, NULL) || bb__lane_end_slowest(lane, NULL)))
        code = bb__sock_accept(listener->fd, fd, peer);
    if (code != BB_ESYSTEM) return code;
    note_starving(lane, error);
    bb__lane_pause(lane);
    return code;
}

static struct bb__conn *take_over(struct bb_lane *lane, int fd, const struct bb__listener *listener,
                                  const struct bb__peer *peer)
{
    struct bb__conn *conn = bb__conn_set_accept(&lane->set, &lane->context, fd, listener->number, peer);
    if (!conn) return NULL;
    conn->tcp = listener->tcp;
    bb__lane_make_room(lane, conn);
    return conn;
}

/* Reads a new connection; NULL is allowed. Returns the connection if it has a complete request, else NULL.
 * ready_at: us, when the connection was accepted; 0: just now. */
static struct bb__conn *read_at_once(struct bb_lane *lane, struct bb__conn *conn, uint64_t ready_at)
{
    if (!conn) return NULL;
    uint64_t read_at = lane->context.read_at;
    lane->context.read_at = ready_at;
    enum bb__conn_next next = bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ);
    lane->context.read_at = read_at;
    bool is_incomplete = conn->state == BB_CONN_HEAD || conn->state == BB_CONN_BODY;
    if (next == BB_CONN_WAIT && is_incomplete && !bb__lane_find_place(lane, conn)) {
        bb__lane_reject(lane, conn);
        return NULL;
    }
    return bb__lane_settle(lane, conn, next) ? conn : NULL;
}

/* Asks TCP how long the request has waited in the accept queue. If a connection has not waited, the next
 * connections from that queue are not checked for the rest of the millisecond, because they have not waited
 * either. */
static void note_queueing(struct bb_lane *lane, const struct bb__listener *listener, struct bb__conn *conn)
{
    if (lane->accept.calm == listener && lane->accept.calm_at == lane->context.now) return;
    unsigned silence = bb__sock_silence(conn->fd);
    if (silence >= QUEUED_MIN) {
        conn->wait.ready_at = bb__clock_us() - (uint64_t)silence * 1000;
        return;
    }
    lane->accept.calm = listener;
    lane->accept.calm_at = lane->context.now;
}

struct bb__conn *bb__lane_accept(struct bb_lane *lane)
{
    const struct bb__listener *listener = lane->accept.from;
    struct bb__peer peer;
    int fd;
    if (accept_with_room(lane, listener, &fd, &peer) != BB_OK) {
        lane->accept.sweeps = false;
        end_streak(lane);
        return NULL;
    }
    if (++lane->accept.count >= BB_IN_A_ROW || !(lane->accept.try_more || lane->accept.sweeps))
        end_streak(lane);

    struct bb__conn *conn = read_at_once(lane, take_over(lane, fd, listener, &peer), 0);
    if (conn && conn->tcp) note_queueing(lane, listener, conn);
    return conn;
}

struct bb__conn *bb__lane_adopt(struct bb_lane *lane)
{
    struct bb__queued *queued = bb__worker_take_queued(lane->worker);
    if (!queued) return NULL;
    lane->turn.not_alone = BB_IN_A_ROW; /* the I/O thread must see the other queued connections */
    struct bb__conn *conn = take_over(lane, queued->fd, queued->listener, &queued->peer);
    uint64_t ready_at = queued->ready_at;
    free(queued);
    return read_at_once(lane, conn, ready_at);
}

/* bb_worker_drain() has taken all queued connections, unless descriptors ran out. The lane takes the rest,
 * because a lane can close idle connections, and can wait for free descriptors. */
void bb__lane_stop_accepting(struct bb_lane *lane)
{
    if (!lane->accept.listening) return;
    int error;
    while ((error = bb__worker_take_queues(lane->worker))) {
        if (bb__sock_is_exhaustion(error) && bb__worker_close_files(lane->worker)) continue;
        bb__lane_note_exhausted(lane, error);
        if (bb__sock_is_exhaustion(error) && bb__lane_close_least_missed(lane, NULL)) continue;
        bb__lane_pause(lane);
        return;
    }
    lane->accept.paused = false;
    bb__lane_unwatch_sources(lane);
    lane->accept.listening = false;
    bb__worker_lane_stops(lane->worker);
    if (atomic_load(&lane->worker->drain.queue) == BB_QUEUE_TAKE) bb__lane_watch_sources(lane);
}
