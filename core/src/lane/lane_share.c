/* lane_share.c: if one look (epoll_wait()) of a lane finds several requests, the lane serves one, and passes
 * others on to idle lanes of other processes. A lane is a thread that serves requests. The worker's I/O
 * thread passes requests on, too, but only while the lane has a request that takes longer than BB_TICK ms.
 * Without sharing, short requests would wait behind each other on the lane that has their connections. */
#include "lane/lane.h"

/* All requests of the last look are served by now. */
static void measure(struct bb_lane *lane, uint64_t now)
{
    if (lane->shares.began == 0 || lane->shares.requests == 0) return;
    uint64_t each = bb__elapsed(now, lane->shares.began) / lane->shares.requests;
    if (each > UINT32_MAX / 8) each = UINT32_MAX / 8;
    lane->shares.mean = (lane->shares.mean * 3 + (unsigned)each) / 4;
}

/* The clock is read only if there are several events. */
void bb__lane_after_look(struct bb_lane *lane)
{
    lane->context.read_at = 0;
    lane->set.shared_queue_is_full = false; /* the queue may have room again */
    if (lane->set.batch.count < 2) {
        lane->shares.crowded = lane->shares.began = 0;
        return;
    }
    /* Unsent bytes are sent before the host gets another request. */
    if (lane->set.unsent > 0) bb__batch_put_first(&lane->set.batch, BB_INTEREST_WRITE);
    uint64_t now = lane->context.read_at = bb__clock_us();
    if (!lane->intake.slot) return;
    measure(lane, now);
    if (lane->shares.crowded == 0) lane->shares.crowded = now;
    lane->shares.began = now;
    lane->shares.requests = 0;
    lane->shares.done = false;
}

static unsigned left_in_batch(const struct bb_lane *lane)
{
    return (unsigned)(lane->set.batch.count - lane->set.batch.next);
}

/* Returns how many requests of the batch (the events of the last look) are to be passed on. */
static unsigned spare(struct bb_lane *lane)
{
    unsigned others = left_in_batch(lane) - 1;
    if (others == 0 || lane->context.draining) return 0;
    if (lane->shares.mean < BB_SHARE_WORTH) {
        if (bb__elapsed(lane->shares.began, lane->shares.crowded) < BB_SHARE_CROWDED) return 0;
        lane->shares.crowded = lane->shares.began;
        others = 1;
    }
    return bb__scoreboard_idle_elsewhere(lane->worker->scoreboard, lane->worker->pid, others);
}

/* Reads a connection of the batch and passes its request on. False: the event does not belong to a
 * connection. */
static bool pass(struct bb_lane *lane, struct bb__poller_event *event)
{
    struct bb__source *source = event->data.ptr;
    if (source && source->kind != BB_SOURCE_CONN) return false;
    event->data.ptr = NULL;
    struct bb__conn *conn = (struct bb__conn *)source;
    if (!conn || conn->set.is_ready) return true;
    if (bb__lane_settle(lane, conn, bb__conn_on_ready(conn, &lane->context, event->events)))
        bb__conn_set_pass(&lane->set, &lane->context, conn, &lane->worker->shared.queue);
    return true;
}

static bool is_stale(const struct bb_lane *lane)
{
    return lane->shares.requests > 0 && bb__elapsed(bb__clock_us(), lane->shares.began) > BB_SHARE_STALE;
}

static bool others_wait(const struct bb_lane *lane)
{
    const struct bb__batch *batch = &lane->set.batch;
    for (int i = batch->next; i < batch->count; i++)
        if (batch->events[i].data.ptr == &lane->worker->shared.source) return true;
    return false;
}

static void queue_up(struct bb_lane *lane)
{
    struct bb__batch *batch = &lane->set.batch;
    for (int i = batch->next; i < batch->count; i++) (void)pass(lane, &batch->events[i]);
}

static void drop_batch(struct bb_lane *lane)
{
    lane->set.batch.count = lane->set.batch.next = 0;
    lane->pick.looked = false;
    lane->pick.busy = true;
}

/* If requests take at least BB_SHARE_WORTH us on average, all lanes serve them in the order in which they
 * came. Other lanes may have put requests into the shared queue since this lane's last epoll_wait(). So after
 * BB_SHARE_STALE us, the lane calls epoll_wait() again. If requests wait in the shared queue, the lane sends
 * the requests of its batch to the end of that queue. */
bool bb__lane_share(struct bb_lane *lane)
{
    struct bb__batch *batch = &lane->set.batch;
    if (lane->shares.mean >= BB_SHARE_WORTH && !lane->context.draining) {
        if (is_stale(lane)) {
            drop_batch(lane);
            return false;
        }
        if (!lane->shares.done && others_wait(lane)) queue_up(lane);
    }
    if (lane->shares.done) return true;
    lane->shares.done = true;
    for (unsigned count = spare(lane); count > 0 && left_in_batch(lane) > 1; count--, batch->count--)
        if (!pass(lane, &batch->events[batch->count - 1])) break;
    return true;
}

bool bb__lane_pass_all(struct bb_lane *lane)
{
    struct bb__batch *batch = &lane->set.batch;
    if (batch->count == 0 || lane->context.draining) return false;
    lane->context.now = bb__clock_ms();
    lane->context.read_at = bb__clock_us();
    for (; !bb__batch_empty(batch); batch->next++)
        if (!pass(lane, &batch->events[batch->next])) return false;
    return !lane->set.ready_first;
}
