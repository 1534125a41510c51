/* lane_room.c: what a lane does if max_connections is reached or descriptors run out. The lane closes the
 * least useful idle connection. If there is none, it disconnects the slowest client. If no client is slow, it
 * rejects the new connection or stops accepting for a while. Used by lane_accept.c and lane_shared.c.
 *
 * These functions free connections. A caller that still uses a connection passes it as `spared`, and that
 * connection is never freed. */
#include "http/h1_reply.h"
#include "lane/lane.h"

#include <errno.h>

/* ms. A connection that has been idle for less than this time is not closed for a new one, because its
 * request or its response may be on its way. If the time is too long, silent clients can keep new clients
 * out. */
#define SPARED_TIME 1000

/* ms. As SPARED_TIME, but for a kept-alive connection. If the next request of the connection comes within
 * this time, the response to that request ends the connection. */
#define SPARED_TIME_IDLE 100

/* A search for a connection to close checks at most this many connections. */
#define PEEKS_MAX 64

/* ms. The shortest time between two disconnections of slow clients. Without this limit, an attack would end
 * all uploads at once. */
#define ENDS_EVERY 100

/* New clients are allowed to exceed the limit by this number, because their requests are on their way. */
#define SLACK 16

/* ---- idle connections ---- */

/* Closes the connection of this kind that has been idle the longest. If the connection has bytes that are not
 * read yet, or is `spared`, it stays open, and the next one is checked. */
static bool close_oldest(struct bb_lane *lane, enum bb__timeout_kind kind, uint64_t spared_time,
                         const struct bb__conn *spared)
{
    struct bb__timeout *oldest = bb__timeout_oldest(&lane->set.timeouts, kind);
    for (int i = 0; i < PEEKS_MAX && oldest; i++, oldest = oldest->next) {
        struct bb__conn *conn = bb__conn_of_timeout(oldest);
        bool lingers = conn->state == BB_CONN_LINGER;
        if (bb__elapsed(lane->context.now, lingers ? conn->linger_began : oldest->since) < spared_time) {
            if (!lingers) return false;
            continue;
        }
        if (conn != spared && (lingers || !bb__sock_has_bytes(conn->fd))) {
            bb__conn_set_end(&lane->set, &lane->context, conn, BB_CONN_END_CLOSE);
            return true;
        }
    }
    return false;
}

/* Tries the kinds in this order: kept-alive connections, lingering connections, new connections that have
 * sent nothing, connections that have sent only a part of a head. Closes the oldest connection of the first
 * kind that has one. */
bool bb__lane_close_least_missed(struct bb_lane *lane, const struct bb__conn *spared)
{
    return close_oldest(lane, BB_TIMEOUT_KEEPALIVE, SPARED_TIME_IDLE, spared) ||
           close_oldest(lane, BB_TIMEOUT_LINGER, SPARED_TIME, spared) ||
           close_oldest(lane, BB_TIMEOUT_FRESH, SPARED_TIME, spared) ||
           close_oldest(lane, BB_TIMEOUT_HEADER, SPARED_TIME, spared);
}

/* ---- slow clients ---- */

static uint64_t sending_rate(const struct bb__conn *conn, uint64_t now)
{
    uint64_t time = bb__elapsed(now, conn->upload.began);
    return conn->upload.received * 1000 / (time > SPARED_TIME ? time : SPARED_TIME);
}

/* Looks for clients of this kind that are slower than *rate (bytes per second) and older than age (ms), and
 * that are not `spared`. Returns the slowest of them and sets *rate to its rate, or returns NULL. */
static struct bb__conn *slower(const struct bb_lane *lane, enum bb__timeout_kind kind, uint64_t age,
                               const struct bb__conn *spared, uint64_t *rate)
{
    struct bb__conn *slowest = NULL;
    uint64_t now = lane->context.now;
    for (struct bb__timeout *each = bb__timeout_oldest(&lane->set.timeouts, kind); each; each = each->next) {
        struct bb__conn *conn = bb__conn_of_timeout(each);
        bool sends = kind == BB_TIMEOUT_BODY;
        if (conn == spared || now < (sends ? conn->upload.began : conn->unsent.since) + age) continue;
        uint64_t own = sends ? sending_rate(conn, now) : bb__conn_taking_rate(conn, now);
        if (own >= *rate) continue;
        *rate = own;
        slowest = conn;
    }
    return slowest;
}

static bool is_time(struct bb_worker *worker, uint64_t now)
{
    uint_fast64_t last = atomic_load(&worker->room.ended_slow);
    return bb__elapsed(now, last) >= ENDS_EVERY &&
           atomic_compare_exchange_strong(&worker->room.ended_slow, &last, now);
}

static struct bb__h1_error report_slow(struct bb_lane *lane, const struct bb__conn *conn, bool sends)
{
    if (lane->worker->scoreboard) {
        struct bb__scoreboard_memory *memory = lane->worker->scoreboard->memory;
        atomic_fetch_add(sends ? &memory->slow_senders : &memory->slow_readers, 1);
    }
    return bb__conn_report(conn, &lane->context, sends ? BB_REASON_SLOWEST : BB_REASON_SLOWEST_READER, 0);
}

/* The descriptor is needed now, so the connection does not linger. Bytes that have arrived are read first. If
 * bytes were unread, closing would send a reset, which could overtake the response. */
static void reject_and_close(struct bb_lane *lane, struct bb__conn *conn, const struct bb__h1_error *error)
{
    (void)bb__conn_reject_with(conn, &lane->context, error);
    if (conn->state == BB_CONN_LINGER) (void)bb__conn_on_lingering(conn, &lane->context);
    bb__conn_set_end(&lane->set, &lane->context, conn, bb__conn_end_of(conn));
}

static bool end_slowest(struct bb_lane *lane, uint64_t age, const struct bb__conn *spared)
{
    uint64_t rate = UINT64_MAX;
    struct bb__conn *sender = slower(lane, BB_TIMEOUT_BODY, age, spared, &rate);
    struct bb__conn *reader = slower(lane, BB_TIMEOUT_WRITE, age, spared, &rate);
    struct bb__conn *conn = reader ? reader : sender;
    if (!conn || (age > 0 && !is_time(lane->worker, lane->context.now))) return false;
    const struct bb__h1_error error = report_slow(lane, conn, conn == sender);
    if (conn == sender)
        reject_and_close(lane, conn, &error);
    else
        bb__conn_set_end(&lane->set, &lane->context, conn, BB_CONN_END_RESET);
    return true;
}

bool bb__lane_end_slowest(struct bb_lane *lane, const struct bb__conn *spared)
{
    return end_slowest(lane, SPARED_TIME, spared);
}

/* ---- the limit ---- */

void bb__lane_note_exhausted(struct bb_lane *lane, int error)
{
    if (error == EMFILE) atomic_store(&lane->worker->room.exhausted, true);
    const struct bb_event event = {.error = error,
                                   .text = "accept: idle connections are closed, or accepting pauses"};
    bb__event_add_paced(&lane->context.events, &lane->paces.exhausted, lane->context.now, &event);
}

/* Whether this lane must close a connection. A lane closes only its own connections, and only if it has more
 * than its share. Busy lanes close connections at their next look. */
static bool over_limit(const struct bb_lane *lane)
{
    const struct bb_worker *worker = lane->worker;
    return bb__worker_is_over_limit(worker) &&
           lane->set.count * atomic_load_explicit(&worker->lane_count, memory_order_relaxed) >
               atomic_load_explicit(&worker->room.limit, memory_order_relaxed);
}

static bool is_above_limit_by(const struct bb_worker *worker, uint64_t more)
{
    uint64_t count = atomic_load_explicit(&worker->room.connections, memory_order_relaxed);
    return count > more && count - more > atomic_load_explicit(&worker->room.limit, memory_order_relaxed);
}

/* New clients that have sent nothing are accepted above the limit. If many of them send half a request at
 * once, the worker gets more than 2 * SLACK above the limit. Then the slowest client is disconnected, however
 * new it is. */
void bb__lane_keep_to_limit(struct bb_lane *lane, const struct bb__conn *spared)
{
    while (over_limit(lane) && bb__lane_close_least_missed(lane, spared)) continue;
    while (is_above_limit_by(lane->worker, 2 * SLACK) && end_slowest(lane, 0, spared)) continue;
}

void bb__lane_make_room(struct bb_lane *lane, struct bb__conn *newest)
{
    bool has_room = bb__worker_find_room(lane->worker, &newest->fd);
    if (!has_room) bb__lane_note_exhausted(lane, EMFILE);
    if (has_room && !over_limit(lane)) return;
    if (bb__lane_close_least_missed(lane, newest) || lane->context.draining) return;
    lane->context.crowded_until = lane->context.now + BB_PAUSE_TIME;
    if (!lane->accept.sweeps) bb__lane_pause(lane);
}

/* Called for a new connection without a complete request. If there is no room, a client that has sent a part
 * of a request gets no place. A client that has sent nothing gets a place, because its request is on its way.
 * The connection that has been silent the longest is closed instead. */
bool bb__lane_find_place(struct bb_lane *lane, const struct bb__conn *conn)
{
    if (!over_limit(lane) || lane->context.draining || bb__lane_end_slowest(lane, conn) ||
        !is_above_limit_by(lane->worker, SLACK))
        return true;
    if (bb__buf_len(&conn->in) > 0) return false;
    (void)close_oldest(lane, BB_TIMEOUT_FRESH, is_above_limit_by(lane->worker, 2 * SLACK) ? 0 : 1, conn);
    return true;
}

void bb__lane_reject(struct bb_lane *lane, struct bb__conn *conn)
{
    struct bb__h1_error error = bb__conn_report(conn, &lane->context, BB_REASON_NO_ROOM, 0);
    error.retry_after = 1;
    reject_and_close(lane, conn, &error);
}

static bool free_descriptor(struct bb_lane *lane)
{
    return bb__worker_close_files(lane->worker) || bb__lane_close_least_missed(lane, NULL) ||
           (!lane->context.draining && bb__lane_end_slowest(lane, NULL));
}

bool bb__lane_ensure_descriptors(struct bb_lane *lane)
{
    bool has = bb__worker_has_descriptor(lane->worker) || free_descriptor(lane);
    while (has && !bb__worker_has_places(lane->worker)) has = free_descriptor(lane);
    if (!has) bb__lane_pause(lane);
    return has;
}
