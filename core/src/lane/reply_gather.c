/* reply_gather.c: gathers the small parts of a response that a host (the program that calls the core) writes
 * one after the other. The first part is sent at once. A part that follows within BB_GATHER_TIME stays in
 * `staged`. It is sent when `staged` is full, when the host flushes or ends the response, or after
 * BB_GATHER_TIME, by the lane with its next part, or else by the I/O thread. So the lane makes few system
 * calls, and no part waits for long, even if the host computes for minutes before its next part.
 *
 * For the same reason, the I/O thread sends the unsent bytes that the connection keeps between two parts, and
 * after the last part if the host works on (bb_reply_pause()). */
#include "lane/lane.h"

#include <stdatomic.h>

/* The I/O thread sets `looks` to false, and then reads `holds`. This is the other order. So the I/O thread
 * sees the bytes, or the lane wakes it. */
static void hold(struct bb_lane *lane, enum bb__held_bytes bytes, const atomic_bool *looks)
{
    atomic_store(&lane->reply.gather.holds, bytes);
    if (!atomic_load(looks)) bb__wakeup_raise(&lane->worker->io->kick);
}

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
    hold(lane, BB_HOLDS_PARTS, &io->gathers);
    return true;
}

/* After an error, `staged` may have bytes that the socket has taken. The lane sends files, because it has to
 * report a file that cannot be read. */
static bool can_be_left(const struct bb_lane *lane)
{
    return lane->reply.sent && lane->reply.failed == BB_OK && !lane->current->file;
}

void bb__reply_leave_unsent(struct bb_lane *lane)
{
    struct bb__io_link *io = lane->worker->io;
    if (!io || !can_be_left(lane)) return;
    if (atomic_load(&lane->reply.gather.holds)) return; /* the I/O thread may be sending now */
    if (bb__conn_has_unsent(lane->current))
        hold(lane, BB_HOLDS_UNSENT, &io->has_unsent);
    else if (bb__buf_len(&lane->reply.staged) > 0)
        hold(lane, BB_HOLDS_PARTS, &io->gathers);
}

void bb_reply_pause(struct bb_lane *lane)
{
    if (!bb__lane_current(lane)) return;
    lane->reply.awaits_room = false;
    bb__reply_leave_unsent(lane);
}

void bb__reply_stop_gathering(struct bb_lane *lane)
{
    struct bb__lane_gather *gather = &lane->reply.gather;
    if (!atomic_load_explicit(&gather->holds, memory_order_acquire)) return;
    pthread_mutex_lock(&gather->lock);
    atomic_store_explicit(&gather->holds, BB_HOLDS_NOTHING, memory_order_relaxed);
    pthread_mutex_unlock(&gather->lock);
}

/* ---- the I/O thread ---- */

/* Returns the codes of bb__reply_send_pending(). */
static int send_staged(struct bb_lane *lane)
{
    struct bb__buf *staged = &lane->reply.staged;
    size_t sent;
    if (bb__buf_len(staged) == 0) return BB_OK;
    int code = bb__sock_send(lane->current->fd, bb__buf_bytes(staged), bb__buf_len(staged), &sent);
    if (code != BB_OK) return code;
    lane->reply.given += (int64_t)sent;
    bb__buf_consume(staged, sent);
    return BB_OK;
}

/* Staged bytes follow the unsent bytes. If the client is gone, the host's next call notices that. */
static enum bb__held_bytes send_held(struct bb_lane *lane)
{
    const struct bb__conn *conn = lane->current;
    int code = bb__conn_has_unsent(conn) ? bb__reply_send_pending(lane) : send_staged(lane);
    lane->reply.gather.since = 0;
    if (code != BB_OK && code != BB_AGAIN) return BB_HOLDS_NOTHING;
    if (!bb__conn_has_unsent(conn) && bb__buf_len(&lane->reply.staged) == 0) return BB_HOLDS_NOTHING;
    return code == BB_OK ? BB_HOLDS_PARTS : BB_HOLDS_UNSENT;
}

enum bb__held_bytes bb__reply_send_gathered(struct bb_lane *lane, uint64_t now)
{
    struct bb__lane_gather *gather = &lane->reply.gather;
    if (!atomic_load(&gather->holds)) return BB_HOLDS_NOTHING;
    pthread_mutex_lock(&gather->lock);
    /* The lane writes the parts and `since` without the lock, before it sets `holds`. It may have sent the
     * parts of the first look, and have gathered others since then, which are newer than `now`. */
    unsigned holds = atomic_load_explicit(&gather->holds, memory_order_acquire);
    if (holds && bb__elapsed(now, gather->since) >= BB_GATHER_TIME) {
        holds = send_held(lane);
        atomic_store_explicit(&gather->holds, holds, memory_order_release);
    }
    pthread_mutex_unlock(&gather->lock);
    return (enum bb__held_bytes)holds;
}
