/* io_readers.c: limits how many lanes wait for clients that read slowly. While other requests wait, at most
 * half of all lanes of the server are allowed to wait for clients. For each lane above half, the I/O thread
 * resets one slow client. This is the client that the lane waits for, or a slower client whose unsent bytes
 * are in a file (response_spool.h). All these files share one budget. If the slower client is reset, a part
 * of the budget becomes free. The lane then writes its own bytes to a file, and stops waiting. See
 * io_work.h. */
#include "io_thread/io_work.h"

#include <sys/socket.h>

/* ms. If the server has only one lane, the lane stops waiting for its client when other requests have waited
 * for this time. */
#define LAST_LANE 1000

/* ---- which lanes wait ---- */

static uint64_t rate_of(const struct bb_lane *lane)
{
    return atomic_load(&lane->reply.taking);
}

static bool waits(const struct bb_lane *lane)
{
    return atomic_load(&lane->reply.waits);
}

/* If two clients are equally slow, bb__scoreboard_waits() counts the client of the lower slot as slower.
 * Without the same rule here, this process could choose one lane and the scoreboard another, and no client
 * would be reset until their rates differ. */
static bool is_slower(const struct bb_lane *lane, const struct bb_lane *other)
{
    uint64_t rate = rate_of(lane), other_rate = rate_of(other);
    return rate < other_rate || (rate == other_rate && lane->intake.slot < other->intake.slot);
}

/* Returns the lane of this process that waits for the slowest client, or NULL. */
static struct bb_lane *slowest_lane(const struct bb_worker *worker)
{
    struct bb_lane *slowest = NULL;
    for (struct bb_lane *lane = bb__first_lane(worker); lane; lane = bb__next_lane(lane))
        if (waits(lane) && (!slowest || is_slower(lane, slowest))) slowest = lane;
    return slowest;
}

/* If there is no scoreboard, this process is the whole server. */
static struct bb__scoreboard_waits count(const struct bb_worker *worker, const struct bb_lane *own)
{
    struct bb__scoreboard_waits found = {0};
    if (own->intake.slot) return bb__scoreboard_waits(worker->scoreboard, own->intake.slot);
    for (const struct bb_lane *lane = bb__first_lane(worker); lane; lane = bb__next_lane(lane)) {
        found.lanes++;
        found.waiting += waits(lane);
    }
    return found;
}

static bool others_wait(struct bb__io_thread *io)
{
    struct bb_worker *worker = io->worker;
    pthread_mutex_lock(&worker->lock);
    bool found = bb__worker_has_waiting(worker);
    pthread_mutex_unlock(&worker->lock);
    return found;
}

/* Whether the lane must stop waiting for its client, because more than half of the lanes wait and this client
 * is one of the slowest. */
static bool is_needed(const struct bb__io_thread *io, const struct bb_lane *lane)
{
    struct bb__scoreboard_waits found = count(io->worker, lane);
    uint64_t time = bb__elapsed(io->context.now, io->awaited_since);
    if (time < (found.lanes > 1 ? BB_READERS_LOOK : LAST_LANE)) return false;
    return found.waiting > found.lanes / 2 && found.slower < found.waiting - found.lanes / 2;
}

/* ---- which client is reset ---- */

/* Takes the set (all connections) of a busy lane for the I/O thread. bb__io_let_go() ends this. Returns false
 * if the I/O thread must not use the set now, because the set is not PARKED (set_owner.h has the states). */
static bool hold_on(struct bb_lane *lane)
{
    return bb__owner_state_of(bb__owner_look(&lane->owner)) == BB_OWNER_PARKED &&
           bb__owner_unpark(&lane->owner);
}

/* Compares the clients whose response is in a file. Returns the slowest, or NULL if there is none. Responses
 * in memory do not matter, because the waiting lane needs room in spool_dir. */
static struct bb__conn *slowest_reader(const struct bb__conn_set *set, uint64_t now)
{
    struct bb__conn *slowest = NULL;
    uint64_t least = UINT64_MAX;
    for (struct bb__timeout *each = bb__timeout_oldest(&set->timeouts, BB_TIMEOUT_WRITE); each;
         each = each->next) {
        struct bb__conn *conn = bb__conn_of_timeout(each);
        if (conn->response_spool.fd < 0) continue;
        uint64_t rate = bb__conn_taking_rate(conn, now);
        if (rate >= least) continue;
        least = rate;
        slowest = conn;
    }
    return slowest;
}

/* Returns the lane that has the slowest reader, or NULL if all readers are faster than `rate` (bytes per
 * second). */
static struct bb_lane *lane_of_slower(const struct bb__io_thread *io, uint64_t rate)
{
    struct bb_lane *found = NULL;
    for (struct bb_lane *lane = bb__first_lane(io->worker); lane; lane = bb__next_lane(lane)) {
        if (!hold_on(lane)) continue;
        const struct bb__conn *conn = slowest_reader(&lane->set, io->context.now);
        uint64_t taking = conn ? bb__conn_taking_rate(conn, io->context.now) : UINT64_MAX;
        if (taking <= rate) {
            rate = taking;
            found = lane;
        }
        bb__io_let_go(lane);
    }
    return found;
}

static void note(struct bb__io_thread *io, const struct bb__conn *conn)
{
    struct bb_event event = {.text = "a client that reads slowly was reset: other requests wait"};
    memcpy(event.peer, conn->peer.address, sizeof event.peer);
    bb__event_add_paced(&io->context.events, &io->slow, io->context.now, &event);
    if (io->worker->scoreboard) atomic_fetch_add(&io->worker->scoreboard->memory->slow_readers, 1);
}

static void reset_in(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb__conn *conn = slowest_reader(&lane->set, io->context.now);
    if (!conn) return;
    note(io, conn);
    io->context.timeouts = &lane->set.timeouts;
    bb__conn_set_end(&lane->set, &io->context, conn, BB_CONN_END_RESET);
}

/* Shuts down the socket of the client that the lane waits for. Then the lane's bb_reply_wait() returns
 * BB_EGONE. */
static void reset_current(struct bb__io_thread *io, struct bb_lane *lane)
{
    if (!waits(lane)) return;
    note(io, lane->current);
    (void)shutdown(lane->current->fd, SHUT_RDWR);
}

static void reset_slowest(struct bb__io_thread *io, struct bb_lane *waiting)
{
    uint64_t taking = rate_of(waiting);
    if (taking == 0) return; /* the lane has begun its next request */
    struct bb_lane *lane = lane_of_slower(io, taking - 1);
    if (!hold_on(lane ? lane : waiting)) return;
    io->reset_at = io->context.now;
    if (lane)
        reset_in(io, lane);
    else
        reset_current(io, waiting);
    bb__io_let_go(lane ? lane : waiting);
    if (lane) bb__wakeup_raise(&waiting->intake.wakeup);
}

/* If the server has only one lane, the lane may get many slow readers in a row. The lane waits at most
 * LAST_LANE ms for all these readers together, not for each reader. So a new reader does not change
 * awaited_since. */
static void note_awaited(struct bb__io_thread *io)
{
    uint64_t now = io->context.now;
    if (bb__elapsed(now, io->awaited_at) > LAST_LANE) io->awaited_since = now;
    io->awaited_at = now;
}

void bb__io_check_readers(struct bb__io_thread *io)
{
    struct bb_worker *worker = io->worker;
    struct bb_lane *lane = slowest_lane(worker);
    if (!lane || bb__worker_drains(worker) || !others_wait(io)) return;
    note_awaited(io);
    if (bb__elapsed(io->context.now, io->reset_at) >= BB_READERS_LOOK && is_needed(io, lane))
        reset_slowest(io, lane);
}
