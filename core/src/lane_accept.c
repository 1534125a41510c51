/* lane_accept.c: how a lane takes new connections: when to ask the queue again, what to do without
 * descriptors, how to stop without losing what is queued. */
#include "lane.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#define PAUSE_TIME 100 /* ms without accepting when nothing can be closed for it */
#define TELL_EVERY 1000

/* ms for which a connection is not closed for another one: a request may be on its way to us, or an answer to
 * its client. Longer, and clients that say nothing could keep everybody else out. */
#define SPARED_TIME 1000

/* The order to drain may come while clients connect faster than we stop: an end to what is taken then. */
#define DRAIN_ACCEPTS_MAX 16384

/* A lane that accepted only one connection in its last streak asks again only now and then: on a quiet server
 * the second accept4 finds nothing and costs as much as the first. */
#define PROBE_EVERY 8

static void unwatch_listeners(struct bb_lane *lane)
{
    for (int i = 0; i < lane->worker->listener_count; i++)
        bb__poller_remove(&lane->poller, lane->worker->listeners[i].fd);
    lane->accepting = NULL;
    for (int i = lane->batch.next; i < lane->batch.count; i++) {
        const struct bb__source *source = lane->batch.events[i].data.ptr;
        if (source && source->kind == BB_SOURCE_LISTENER) lane->batch.events[i].data.ptr = NULL;
    }
}

static void pause_accepting(struct bb_lane *lane)
{
    unwatch_listeners(lane);
    lane->paused = true;
    lane->resume = lane->context.now + PAUSE_TIME;
}

static void watch_listeners(struct bb_lane *lane)
{
    for (int i = 0; i < lane->worker->listener_count; i++) {
        struct bb__listener *listener = &lane->worker->listeners[i];
        if (bb__poller_add_shared(&lane->poller, listener->fd, &listener->source) == BB_OK) continue;
        pause_accepting(lane); /* no memory for it now */
        return;
    }
}

void bb__lane_listen(struct bb_lane *lane)
{
    lane->listening = true;
    bb__worker_lane_listens(lane->worker);
    watch_listeners(lane);
}

/* Somebody has shut it down, say: it would be ready for ever, with nothing in its queue. */
static void give_up(struct bb_lane *lane, const struct bb__listener *listener, int error)
{
    bb__news_add(&lane->context.news, 0, error, "accept: a listener is of no use any more", NULL);
    bb__poller_remove(&lane->poller, listener->fd);
}

void bb__lane_on_listener(struct bb_lane *lane, const struct bb__listener *listener, uint32_t events)
{
    if (events & (EPOLLERR | EPOLLHUP)) {
        give_up(lane, listener, 0);
        return;
    }
    lane->accepting = listener;
    lane->accepted = 0;
    lane->try_more = lane->last_streak >= 2 || ++lane->probe % PROBE_EVERY == 0;
}

static void end_streak(struct bb_lane *lane)
{
    lane->last_streak = lane->accepted;
    lane->accepting = NULL;
}

static bool close_oldest(struct bb_lane *lane, enum bb__deadline_kind kind, uint64_t spared_time)
{
    struct bb__deadline *oldest = bb__deadline_oldest(&lane->context.deadlines, kind);
    if (!oldest || lane->context.now - oldest->since < spared_time) return false;
    bb__lane_close(lane, bb__conn_of_deadline(oldest), BB_CONN_END_CLOSE);
    return true;
}

/* Closes the connection that will be missed least: the longest idle, then the one whose answer is the longest
 * sent, then the longest silent, then the longest in the middle of a head. False when there is none of them.
 */
static bool close_least_missed(struct bb_lane *lane)
{
    return close_oldest(lane, BB_DEADLINE_KEEPALIVE, 0) ||
           close_oldest(lane, BB_DEADLINE_LINGER, SPARED_TIME) ||
           close_oldest(lane, BB_DEADLINE_FRESH, SPARED_TIME) ||
           close_oldest(lane, BB_DEADLINE_HEADER, SPARED_TIME);
}

void bb__lane_resume_accepting(struct bb_lane *lane)
{
    lane->paused = false;
    if (lane->context.draining)
        bb__lane_stop_accepting(lane);
    else
        watch_listeners(lane);
}

static void tell_exhausted(struct bb_lane *lane, int error)
{
    if (lane->told_exhausted > 0 && lane->context.now - lane->told_exhausted < TELL_EVERY) return;
    lane->told_exhausted = lane->context.now;
    bb__news_add(&lane->context.news, 0, error, "accept: closing idle connections, or waiting, to go on",
                 NULL);
}

static int accept_with_room(struct bb_lane *lane, const struct bb__listener *listener, int *fd, char *peer)
{
    int code = bb__sock_accept(listener->fd, fd, peer);
    if (code != BB_ESYSTEM) return code;
    int error = errno;
    if (!bb__sock_is_exhaustion(error)) {
        give_up(lane, listener, error);
        return code;
    }
    tell_exhausted(lane, error);
    if (close_least_missed(lane)) code = bb__sock_accept(listener->fd, fd, peer);
    if (code == BB_ESYSTEM) pause_accepting(lane);
    return code;
}

static struct bb__conn *take_over(struct bb_lane *lane, int fd, const struct bb__listener *listener,
                                  const char *peer)
{
    struct bb__conn *conn = bb__conn_new(fd, &lane->context);
    if (!conn) {
        bb__sock_close(fd);
        return NULL;
    }
    conn->listener = listener->number;
    conn->tcp = listener->tcp;
    memcpy(conn->peer, peer, sizeof conn->peer);
    conn->next = lane->conns;
    if (conn->next) conn->next->previous = conn;
    lane->conns = conn;

    uint64_t limit = lane->worker->settings.max_connections;
    uint64_t open = atomic_fetch_add_explicit(&lane->worker->connections, 1, memory_order_relaxed) + 1;
    bool too_many = limit > 0 && open > limit && !close_least_missed(lane);
    if (too_many && !lane->context.draining) pause_accepting(lane);
    return conn;
}

struct bb__conn *bb__lane_accept(struct bb_lane *lane)
{
    const struct bb__listener *listener = lane->accepting;
    char peer[BB_PEER_MAX];
    int fd;
    if (accept_with_room(lane, listener, &fd, peer) != BB_OK) {
        end_streak(lane);
        return NULL;
    }
    if (++lane->accepted >= BB_IN_A_ROW || !lane->try_more) end_streak(lane);

    struct bb__conn *conn = take_over(lane, fd, listener, peer);
    if (!conn) return NULL;
    return bb__lane_settle(lane, conn, bb__conn_on_ready(conn, &lane->context, EPOLLIN)) ? conn : NULL;
}

/* Takes what a queue holds. False when there is no room for the rest of it. */
static bool empty_queue(struct bb_lane *lane, const struct bb__listener *listener)
{
    char peer[BB_PEER_MAX];
    int fd;
    for (int taken = 0; taken < DRAIN_ACCEPTS_MAX; taken++) {
        if (accept_with_room(lane, listener, &fd, peer) != BB_OK) return !lane->paused;
        struct bb__conn *conn = take_over(lane, fd, listener, peer);
        if (conn) (void)bb__lane_settle(lane, conn, BB_CONN_WAIT);
    }
    return true;
}

/* What the queues hold has been promised an answer by the kernel: it is taken before the listeners go, be it
 * after a pause. Their requests are read when the lane looks at them in turn. */
void bb__lane_stop_accepting(struct bb_lane *lane)
{
    if (!lane->listening) return;
    lane->paused = false;
    for (int i = 0; i < lane->worker->listener_count; i++)
        if (!empty_queue(lane, &lane->worker->listeners[i])) return;
    unwatch_listeners(lane);
    lane->listening = false;
    bb__worker_lane_stops(lane->worker);
}
