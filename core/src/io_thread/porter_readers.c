/* porter_readers.c: lanes that wait for clients which read slowly. They may do so while no other request
 * waits. When one does, half of all lanes of the server go on. For each of the others the porter resets the
 * slowest reader: the client of a lane, or one whose response takes the room that the lane waits for. See
 * porter_work.h. */
#include "io_thread/porter_work.h"

#include <sys/socket.h>

/* ms: for so long the only lane of a server waits for its client all the same. */
#define LAST_LANE 1000

/* ---- who waits ---- */

static uint64_t rate_of(const struct bb_lane *lane)
{
    return atomic_load(&lane->reply.taking);
}

static bool waits(const struct bb_lane *lane)
{
    return atomic_load(&lane->reply.waits);
}

/* The one of the process whose client is the slowest, or NULL. */
static struct bb_lane *slowest_lane(const struct bb_worker *worker)
{
    struct bb_lane *slowest = NULL;
    for (struct bb_lane *lane = bb__first_lane(worker); lane; lane = bb__next_lane(lane))
        if (waits(lane) && (!slowest || rate_of(lane) < rate_of(slowest))) slowest = lane;
    return slowest;
}

/* Without a board this process is the server. */
static struct bb__board_waits count(const struct bb_worker *worker, const struct bb_lane *own)
{
    struct bb__board_waits found = {0};
    if (own->intake.line) return bb__board_waits(worker->board, own->intake.line);
    for (const struct bb_lane *lane = bb__first_lane(worker); lane; lane = bb__next_lane(lane)) {
        found.lanes++;
        found.waiting += waits(lane);
    }
    return found;
}

static bool others_wait(struct bb__porter *porter)
{
    struct bb_worker *worker = porter->worker;
    pthread_mutex_lock(&worker->lock);
    bool found = bb__worker_has_waiting(worker);
    pthread_mutex_unlock(&worker->lock);
    return found;
}

/* Whether the lane is one of those that are too many. */
static bool is_needed(const struct bb__porter *porter, const struct bb_lane *lane)
{
    struct bb__board_waits found = count(porter->worker, lane);
    uint64_t time = porter->context.now - porter->awaited_since;
    if (time < (found.lanes > 1 ? BB_READERS_LOOK : LAST_LANE)) return false;
    return found.waiting > found.lanes / 2 && found.slower < found.waiting - found.lanes / 2;
}

/* ---- who goes ---- */

/* The set is WORK until it is let go. False: its lane is back, or has just begun. */
static bool hold_on(struct bb_lane *lane)
{
    return bb__own_state_of(bb__own_look(&lane->own)) == BB_OWN_HELD && bb__own_rouse(&lane->own);
}

/* The lane waits for room in SpoolDir, so only responses that have a file there matter. */
static struct bb__conn *slowest_reader(const struct bb__set *set, uint64_t now)
{
    struct bb__conn *slowest = NULL;
    uint64_t least = UINT64_MAX;
    for (struct bb__deadline *each = bb__deadline_oldest(&set->deadlines, BB_DEADLINE_WRITE); each;
         each = each->next) {
        struct bb__conn *conn = bb__conn_of_deadline(each);
        if (conn->spill.fd < 0) continue;
        uint64_t rate = bb__conn_taking_rate(conn, now);
        if (rate >= least) continue;
        least = rate;
        slowest = conn;
    }
    return slowest;
}

/* The lane in whose set there is one that is no faster than that. */
static struct bb_lane *lane_of_slower(const struct bb__porter *porter, uint64_t rate)
{
    struct bb_lane *found = NULL;
    for (struct bb_lane *lane = bb__first_lane(porter->worker); lane; lane = bb__next_lane(lane)) {
        if (!hold_on(lane)) continue;
        const struct bb__conn *conn = slowest_reader(&lane->set, porter->context.now);
        uint64_t taking = conn ? bb__conn_taking_rate(conn, porter->context.now) : UINT64_MAX;
        if (taking <= rate) {
            rate = taking;
            found = lane;
        }
        bb__porter_let_go(lane);
    }
    return found;
}

static void note(struct bb__porter *porter, const struct bb__conn *conn)
{
    struct bb_news news = {.text = "a client that reads slowly was reset: other requests wait"};
    memcpy(news.peer, conn->peer, sizeof news.peer);
    bb__news_add_paced(&porter->context.news, &porter->slow, porter->context.now, &news);
    if (porter->worker->board) atomic_fetch_add(&porter->worker->board->slow_readers, 1);
}

static void reset_in(struct bb__porter *porter, struct bb_lane *lane)
{
    struct bb__conn *conn = slowest_reader(&lane->set, porter->context.now);
    if (!conn) return;
    note(porter, conn);
    porter->context.deadlines = &lane->set.deadlines;
    bb__set_end(&lane->set, &porter->context, conn, BB_CONN_END_RESET);
}

/* The lane finds it closed, and tells its host. */
static void reset_current(struct bb__porter *porter, struct bb_lane *lane)
{
    if (!waits(lane)) return;
    note(porter, lane->current);
    (void)shutdown(lane->current->fd, SHUT_RDWR);
}

static void reset_slowest(struct bb__porter *porter, struct bb_lane *waiting)
{
    struct bb_lane *lane = lane_of_slower(porter, rate_of(waiting) - 1);
    if (!hold_on(lane ? lane : waiting)) return;
    porter->reset_at = porter->context.now;
    if (lane)
        reset_in(porter, lane);
    else
        reset_current(porter, waiting);
    bb__porter_let_go(lane ? lane : waiting);
    if (lane) bb__event_raise(waiting->intake.wake_fd);
}

/* A request that has waited for one lane does not have to wait as long for the next one: there may be many
 * slow readers. */
static void note_awaited(struct bb__porter *porter)
{
    uint64_t now = porter->context.now;
    if (now - porter->awaited_at > LAST_LANE) porter->awaited_since = now;
    porter->awaited_at = now;
}

void bb__porter_mind_readers(struct bb__porter *porter)
{
    struct bb_worker *worker = porter->worker;
    struct bb_lane *lane = slowest_lane(worker);
    if (!lane || bb__worker_drains(worker) || !others_wait(porter)) return;
    note_awaited(porter);
    if (porter->context.now - porter->reset_at >= BB_READERS_LOOK && is_needed(porter, lane))
        reset_slowest(porter, lane);
}
