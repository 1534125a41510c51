/* reply_gather.c: gathers the small parts of a response that a host (the program that calls the core) writes
 * one after the other. The first part is sent at once. A part that follows within BB_GATHER_TIME stays in
 * `staged`. It is sent when `staged` is full, when the host flushes or ends the response, or after
 * BB_GATHER_TIME, by the lane with its next part, or else by the I/O thread. So the lane makes few system
 * calls, and no part waits for long, even if the host computes for minutes before its next part. */
#include "lane/lane.h"

#include <stdatomic.h>

bool bb__reply_gathers(struct bb_lane *lane)
{
    struct bb__lane_gather *gather = &lane->reply.gather;
    struct bb__io_link *io = lane->worker->io;
    uint64_t now = bb__clock_us(), before = gather->part_at;
    gather->part_at = now;
    if (!io || !lane->reply.sent || bb__conn_has_unsent(lane->current) ||
        bb__elapsed(now, before) >= BB_GATHER_TIME)
        return false;
    if (gather->since == 0) gather->since = now;
    if (bb__elapsed(now, gather->since) >= BB_GATHER_TIME) return false;
    /* The I/O thread sets `gathers` to false, and then reads `holds`. This is the other order. So the I/O
     * thread sees the part, or the lane wakes it. */
    atomic_store(&gather->holds, true);
    if (!atomic_load(&io->gathers)) bb__wakeup_raise(&io->kick);
    return true;
}

void bb__reply_stop_gathering(struct bb_lane *lane)
{
    struct bb__lane_gather *gather = &lane->reply.gather;
    if (!atomic_load_explicit(&gather->holds, memory_order_acquire)) return;
    pthread_mutex_lock(&gather->lock);
    atomic_store_explicit(&gather->holds, false, memory_order_relaxed);
    pthread_mutex_unlock(&gather->lock);
}

/* If the socket does not take all bytes, the host's next call sends the rest, or notices that the client is
 * gone. */
static void send_staged(struct bb_lane *lane)
{
    struct bb__buf *staged = &lane->reply.staged;
    size_t sent;
    if (bb__buf_len(staged) == 0) return;
    if (bb__sock_send(lane->current->fd, bb__buf_bytes(staged), bb__buf_len(staged), &sent) != BB_OK) return;
    lane->reply.given += (int64_t)sent;
    bb__buf_consume(staged, sent);
}

bool bb__reply_send_gathered(struct bb_lane *lane, uint64_t now)
{
    struct bb__lane_gather *gather = &lane->reply.gather;
    if (!atomic_load(&gather->holds)) return false;
    pthread_mutex_lock(&gather->lock);
    /* The lane writes the parts and `since` without the lock, before it sets `holds`. It may have sent the
     * parts of the first look, and have gathered others since then, which are newer than `now`. */
    bool holds = atomic_load_explicit(&gather->holds, memory_order_acquire);
    if (holds && bb__elapsed(now, gather->since) >= BB_GATHER_TIME) {
        send_staged(lane);
        gather->since = 0;
        atomic_store_explicit(&gather->holds, false, memory_order_release);
    }
    pthread_mutex_unlock(&gather->lock);
    return holds;
}
