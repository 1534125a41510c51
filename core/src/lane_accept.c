/* lane_accept.c: how a lane takes new connections: when to ask the queue again, what to do without
 * descriptors, how to stop without losing what is queued. */
#include "lane.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* ms for which a worker may have no connection, and no descriptor for one. */
#define STARVED_TIME 5000

#define PAUSE_TIME 100 /* ms without accepting when nothing can be closed for it */

/* ms for which a connection is not closed for another one: a request may be on its way to us, or an answer to
 * its client. Longer, and clients that say nothing could keep everybody else out. One that is kept alive is
 * told with its next answer, if that comes sooner. */
#define SPARED_TIME      1000
#define SPARED_TIME_IDLE 100

/* Of so many at most it is found out whether they have sent something before one of them has to go. */
#define PEEKS_MAX 64

/* A lane that accepted only one connection in its last streak asks again only now and then: on a quiet server
 * the second accept4 finds nothing and costs as much as the first. And where requests take long it looks who
 * else has come after each one. */
#define PROBE_EVERY 8

/* ms. What is less may be the kernel's ticks. */
#define QUEUED_MIN 5

void bb__lane_remove_sources(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    int open_count = bb__worker_count_open(worker);
    for (int i = 0; i < open_count; i++) bb__poller_remove(&lane->set.poller, worker->listeners[i].fd);
    bb__poller_remove(&lane->set.poller, worker->relay.out);
}

static void unwatch_sources(struct bb_lane *lane)
{
    pthread_mutex_lock(&lane->worker->lock);
    lane->watching = false;
    bb__lane_remove_sources(lane);
    bb__worker_nudge(lane->worker);
    pthread_mutex_unlock(&lane->worker->lock);
    lane->accepting = NULL;
    for (int i = lane->set.batch.next; i < lane->set.batch.count; i++) {
        const struct bb__source *source = lane->set.batch.events[i].data.ptr;
        if (source && (source->kind == BB_SOURCE_LISTENER || source->kind == BB_SOURCE_RELAY))
            lane->set.batch.events[i].data.ptr = NULL;
    }
}

void bb__lane_pause(struct bb_lane *lane)
{
    unwatch_sources(lane);
    lane->paused = true;
    bb__board_set_paused(lane->line, true);
    lane->set.has_room = false;
    lane->resume = lane->crowded_until = lane->context.now + PAUSE_TIME;
}

/* What a drain still has to take comes slowly: at once, it would take what is left for the application. */
uint64_t bb__lane_resumes(const struct bb_lane *lane)
{
    return lane->set.has_room && !lane->context.draining ? 0 : lane->resume;
}

static bool add_listeners(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    int open_count = bb__worker_count_open(worker);
    for (int i = 0; i < open_count; i++) {
        struct bb__listener *listener = &worker->listeners[i];
        if (listener->useless) continue;
        if (bb__poller_add_shared(&lane->set.poller, listener->fd, &listener->source) != BB_OK) return false;
    }
    return true;
}

bool bb__lane_add_sources(struct bb_lane *lane)
{
    struct bb_worker *worker = lane->worker;
    if (!lane->watching || lane->lent || bb__worker_stands_back(worker)) return true;
    return add_listeners(lane) &&
           bb__poller_add_shared(&lane->set.poller, worker->relay.out, &worker->relay_source) == BB_OK;
}

void bb__lane_watch_and_unlock(struct bb_lane *lane)
{
    bool added = bb__lane_add_sources(lane);
    pthread_mutex_unlock(&lane->worker->lock);
    if (!added) bb__lane_pause(lane); /* no memory for it now */
}

static void watch_sources(struct bb_lane *lane)
{
    pthread_mutex_lock(&lane->worker->lock);
    lane->watching = true;
    bb__lane_watch_and_unlock(lane);
}

void bb__lane_listen(struct bb_lane *lane)
{
    lane->listening = true;
    bb__worker_lane_listens(lane->worker);
    watch_sources(lane);
}

/* Somebody has shut it down, say: it would be ready for ever, with nothing in its queue. */
static void give_up(struct bb_lane *lane, const struct bb__listener *listener, int error)
{
    struct bb_worker *worker = lane->worker;
    pthread_mutex_lock(&worker->lock);
    worker->listeners[listener - worker->listeners].useless = true;
    pthread_mutex_unlock(&worker->lock);
    bb__news_add(&lane->context.news, 0, error, "accept: a listener is of no use any more", NULL);
    bb__poller_remove(&lane->set.poller, listener->fd);
}

void bb__lane_on_listener(struct bb_lane *lane, const struct bb__listener *listener, uint32_t events,
                          bool others_wait)
{
    if (events & (EPOLLERR | EPOLLHUP)) {
        give_up(lane, listener, 0);
        return;
    }
    lane->accepting = listener;
    lane->accepted = 0;
    bool may = !others_wait && lane->shares.mean < BB_SHARE_WORTH;
    lane->try_more = may && (lane->last_streak >= 2 || ++lane->probe % PROBE_EVERY == 0);
}

void bb__lane_look_anew(struct bb_lane *lane)
{
    pthread_mutex_lock(&lane->worker->lock);
    bb__lane_remove_sources(lane);
    bb__lane_watch_and_unlock(lane);
}

static void end_streak(struct bb_lane *lane)
{
    bb__lane_take_turns(lane);
    lane->last_streak = lane->accepted;
    lane->accepting = NULL;
}

/* The longest idle is often the one that waits the longest to be read: as with deadlines, what has come
 * counts first, and another one goes. */
static bool close_oldest(struct bb_lane *lane, enum bb__deadline_kind kind, uint64_t spared_time)
{
    struct bb__deadline *oldest = bb__deadline_oldest(&lane->set.deadlines, kind);
    for (int i = 0; i < PEEKS_MAX && oldest; i++, oldest = oldest->next) {
        if (lane->context.now - oldest->since < spared_time) return false;
        struct bb__conn *conn = bb__conn_of_deadline(oldest);
        if (conn->state == BB_CONN_LINGER || !bb__sock_has_bytes(conn->fd)) {
            bb__set_end(&lane->set, &lane->context, conn, BB_CONN_END_CLOSE);
            return true;
        }
    }
    return false;
}

/* Closes the connection that will be missed least: the longest idle, then the one whose answer is the longest
 * sent, then the longest silent, then the longest in the middle of a head. False when there is none of them.
 */
static bool close_least_missed(struct bb_lane *lane)
{
    return close_oldest(lane, BB_DEADLINE_KEEPALIVE, SPARED_TIME_IDLE) ||
           close_oldest(lane, BB_DEADLINE_LINGER, SPARED_TIME) ||
           close_oldest(lane, BB_DEADLINE_FRESH, SPARED_TIME) ||
           close_oldest(lane, BB_DEADLINE_HEADER, SPARED_TIME);
}

void bb__lane_resume_accepting(struct bb_lane *lane)
{
    lane->paused = false;
    bb__board_set_paused(lane->line, false);
    if (lane->context.draining)
        bb__lane_stop_accepting(lane);
    else
        watch_sources(lane);
}

static void tell_exhausted(struct bb_lane *lane, int error)
{
    const struct bb_news news = {.error = error,
                                 .text = "accept: closing idle connections, or waiting, to go on"};
    bb__news_add_paced(&lane->context.news, &lane->exhausted, lane->context.now, &news);
}

/* Nothing can be closed for a new connection: other programs of the process have all descriptors. */
static void note_starving(struct bb_lane *lane, int error)
{
    struct bb_worker *worker = lane->worker;
    uint64_t now = lane->context.now, since = atomic_load(&worker->starved);
    if (error != EMFILE || atomic_load(&worker->connections) > 0) {
        atomic_store(&worker->starved, 0);
    } else if (since == 0) {
        atomic_store(&worker->starved, now);
    } else if (now - since >= STARVED_TIME && worker->tell_fd >= 0) {
        atomic_store(&worker->starved, now);
        bb__worker_tell_parent(worker, BB_TELL_STARVED);
        bb__news_add(&lane->context.news, 0, error, "wants to be replaced: no connection can be accepted",
                     NULL);
    }
}

static int accept_with_room(struct bb_lane *lane, const struct bb__listener *listener, int *fd, char *peer)
{
    int code = bb__sock_accept(listener->fd, fd, peer);
    if (code != BB_ESYSTEM) {
        if (code == BB_OK && atomic_load_explicit(&lane->worker->starved, memory_order_relaxed) > 0)
            atomic_store(&lane->worker->starved, 0);
        return code;
    }
    int error = errno;
    if (bb__worker_has_closed(lane->worker)) return BB_AGAIN;
    if (bb__sock_is_useless(error)) {
        give_up(lane, listener, error);
        return code;
    }
    tell_exhausted(lane, error);
    if (bb__sock_is_exhaustion(error) && close_least_missed(lane))
        code = bb__sock_accept(listener->fd, fd, peer);
    if (code != BB_ESYSTEM) return code;
    note_starving(lane, error);
    bb__lane_pause(lane);
    return code;
}

/* Whether one has to go. A lane closes only its own: one that has less than its share lets the others do it,
 * who may be busy now and will when they look again. */
static bool over_limit(const struct bb_lane *lane)
{
    const struct bb_worker *worker = lane->worker;
    return bb__worker_is_over_limit(worker) &&
           lane->set.count * atomic_load_explicit(&worker->lane_count, memory_order_relaxed) >
               atomic_load_explicit(&worker->connections_limit, memory_order_relaxed);
}

void bb__lane_keep_to_limit(struct bb_lane *lane)
{
    while (over_limit(lane) && close_least_missed(lane)) continue;
}

void bb__lane_make_room(struct bb_lane *lane, int newest)
{
    bool has_room = bb__worker_find_room(lane->worker, newest);
    if (!has_room) tell_exhausted(lane, EMFILE);
    if (has_room && !over_limit(lane)) return;
    if (!close_least_missed(lane) && !lane->context.draining) bb__lane_pause(lane);
}

/* Where there was none left once, the kernel is asked anew: the host may have given some back. */
static bool has_number(const struct bb_lane *lane)
{
    const struct bb_worker *worker = lane->worker;
    uint64_t room = atomic_load_explicit(&worker->room, memory_order_relaxed);
    if (room == 0 || atomic_load_explicit(&worker->connections, memory_order_relaxed) < room) return true;
    int number = fcntl(lane->wake_fd, F_DUPFD_CLOEXEC, 0);
    if (number >= 0) (void)close(number);
    return number >= 0 && number < worker->reserve;
}

bool bb__lane_may_take(struct bb_lane *lane)
{
    if (lane->context.draining || has_number(lane) || close_least_missed(lane)) return true;
    bb__lane_pause(lane);
    return false;
}

static struct bb__conn *take_over(struct bb_lane *lane, int fd, const struct bb__listener *listener,
                                  const char *peer)
{
    struct bb__conn *conn = bb__set_accept(&lane->set, &lane->context, fd, listener->number, peer);
    if (!conn) return NULL;
    conn->tcp = listener->tcp;
    bb__lane_make_room(lane, fd);
    return conn;
}

/* NULL when there is none, or no request yet. came: us, if it was accepted before; else 0. */
static struct bb__conn *read_at_once(struct bb_lane *lane, struct bb__conn *conn, uint64_t came)
{
    if (!conn) return NULL;
    uint64_t seen = lane->context.seen;
    lane->context.seen = came;
    enum bb__conn_next next = bb__conn_on_ready(conn, &lane->context, BB_INTEREST_READ);
    lane->context.seen = seen;
    return bb__lane_settle(lane, conn, next) ? conn : NULL;
}

/* Its request came while all lanes were busy. TCP tells when; but not each that is accepted is to be asked:
 * if the first one within a millisecond has not waited, the others of that queue have not, either. */
static void note_queueing(struct bb_lane *lane, const struct bb__listener *listener, struct bb__conn *conn)
{
    if (lane->calm == listener && lane->calm_at == lane->context.now) return;
    unsigned silence = bb__sock_silence(conn->fd);
    if (silence >= QUEUED_MIN) {
        conn->came = bb__clock_us() - (uint64_t)silence * 1000;
        return;
    }
    lane->calm = listener;
    lane->calm_at = lane->context.now;
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

    struct bb__conn *conn = read_at_once(lane, take_over(lane, fd, listener, peer), 0);
    if (conn && conn->tcp) note_queueing(lane, listener, conn);
    return conn;
}

struct bb__conn *bb__lane_adopt(struct bb_lane *lane)
{
    struct bb__queued *queued = bb__worker_take_queued(lane->worker);
    if (!queued) return NULL;
    lane->told = BB_IN_A_ROW; /* the porter is to know of the others that are queued */
    struct bb__conn *conn = take_over(lane, queued->fd, queued->listener, queued->peer);
    uint64_t came = queued->came;
    free(queued);
    return read_at_once(lane, conn, came);
}

/* Whoever gave the order has done this already, unless there was no room for all that the queues hold: a lane
 * can close others for it, and wait. */
void bb__lane_stop_accepting(struct bb_lane *lane)
{
    if (!lane->listening) return;
    int error;
    while ((error = bb__worker_take_queues(lane->worker))) {
        tell_exhausted(lane, error);
        if (bb__sock_is_exhaustion(error) && close_least_missed(lane)) continue;
        bb__lane_pause(lane);
        return;
    }
    lane->paused = false;
    unwatch_sources(lane);
    lane->listening = false;
    bb__worker_lane_stops(lane->worker);
    if (atomic_load(&lane->worker->drain_queue) == BB_QUEUE_TAKE) watch_sources(lane);
}

void bb__lane_watch_relay(struct bb_lane *lane)
{
    if (!lane->watching) watch_sources(lane);
}
