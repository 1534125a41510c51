/* reply_wait.c: how a lane waits for the client of its request: first for a moment, as a file would cost
 * more; then, if neither memory nor the spool has room for the rest, until there is some. The I/O thread ends
 * that wait when others need the lane (io_readers.c). See bontebok.h for the contracts. */
#include "lane/lane.h"

#include <limits.h>

/* ms, and us for each MiB: for a client that is quicker than that, as a proxy beside us is, a file would cost
 * more than to wait. */
#define MOMENT         1
#define MOMENT_PER_MIB 1000

/* ms between two looks at most: for so long the I/O thread does not know how fast the client is. */
#define LOOK_EVERY 100

static struct bb__conn *current(const struct bb_lane *lane)
{
    return bb__worker_is_inert(lane->worker) ? NULL : lane->current;
}

static int smaller(int one, int other)
{
    return one < other ? one : other;
}

/* ---- progress ---- */

void bb__reply_note_progress(struct bb_lane *lane)
{
    lane->reply.write_progress = bb__clock_ms();
    lane->current->untaken = bb__sock_untaken(lane->current->fd);
}

/* For how long the client may still take nothing; fits poll. */
static int wait_time(const struct bb_lane *lane)
{
    uint64_t limit = lane->worker->settings.write_timeout;
    if (limit == 0) return -1;
    uint64_t stalled = bb__clock_ms() - lane->reply.write_progress;
    if (stalled >= limit) return 0;
    return limit - stalled > INT_MAX ? INT_MAX : (int)(limit - stalled);
}

/* The socket asks for more only when much of its buffer, which may be megabytes, is free: a client that takes
 * little at a time needs longer for that, and is not gone. */
static bool has_taken_some(struct bb_lane *lane)
{
    if (bb__sock_untaken(lane->current->fd) >= lane->current->untaken) return false;
    bb__reply_note_progress(lane);
    return true;
}

/* The host may go on for long without having to wait: for a client that takes nothing it shall not. */
int bb__reply_flush_pending(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->current;
    if (!bb__conn_owes_some(conn)) return BB_OK;
    uint64_t before = bb__conn_owes(conn);
    int code = bb__conn_flush(conn, &lane->context);
    uint64_t pending = bb__conn_owes(conn);
    lane->reply.given += (int64_t)(before - pending);
    if (code == BB_EGONE) return BB_EGONE;
    if (pending == 0) lane->reply.spools = false;
    if (pending < before)
        bb__reply_note_progress(lane);
    else if (wait_time(lane) == 0 && !has_taken_some(lane))
        return BB_EGONE;
    return BB_OK;
}

/* Of a unix socket what waits is counted with the kernel's own overhead, which for little parts is a hundred
 * times theirs: it may seem to become less. */
static int64_t taken_so_far(const struct bb_lane *lane)
{
    return lane->reply.given - bb__sock_untaken(lane->current->fd);
}

static bool is_too_slow(struct bb_lane *lane)
{
    struct bb__lane_reply *reply = &lane->reply;
    int64_t rate = (int64_t)lane->worker->settings.min_body_rate, taken = taken_so_far(lane);
    if (taken < reply->taken_before) reply->taken_before = taken;
    return (taken - reply->taken_before + BB_RATE_CREDIT) * 1000 <
           rate * (int64_t)atomic_load_explicit(&reply->waited, memory_order_relaxed);
}

/* ---- waiting ---- */

/* Waits for one look. BB_OK: there is room; BB_AGAIN: bb_lane_wake(); BB_EGONE: there is none. If the process
 * is stopped meanwhile, the client has not been waited for any longer. */
static int wait_for_room(struct bb_lane *lane, int look)
{
    uint64_t since = bb__clock_ms();
    int code = bb__sock_wait_writable(lane->current->fd, lane->intake.wake_fd, look);
    uint64_t time = bb__clock_ms() - since;
    atomic_fetch_add(&lane->reply.waited, time < (uint64_t)look ? time : (uint64_t)look);
    if (code == BB_AGAIN) bb__eventfd_clear(lane->intake.wake_fd);
    return code;
}

static int wait_for_a_moment(struct bb_lane *lane)
{
    struct bb__lane_reply *reply = &lane->reply;
    uint64_t since = bb__clock_us();
    int code = wait_for_room(lane, MOMENT);
    if (code == BB_AGAIN) return BB_AGAIN;
    reply->moments += bb__clock_us() - since;
    uint64_t allowed = MOMENT * 1000 + ((uint64_t)reply->given >> 20) * MOMENT_PER_MIB;
    reply->spools = code != BB_OK || reply->moments > allowed;
    return code == BB_OK ? bb__reply_flush_pending(lane) : BB_OK;
}

/* A worker that drains does not wait for long for a client that has gone, or sleeps. */
static int shortened(const struct bb_lane *lane, int left)
{
    uint64_t drain = lane->worker->settings.keepalive_drain;
    if (!bb__worker_drains(lane->worker) || drain > INT_MAX) return left;
    return left < 0 ? (int)drain : smaller(left, (int)drain);
}

static void show_rate(struct bb_lane *lane)
{
    uint64_t taking = 1 + bb__conn_taking_rate(lane->current, bb__clock_ms());
    atomic_store(&lane->reply.taking, taking);
    if (lane->intake.slot) atomic_store(&lane->intake.slot->taking, taking);
}

static int wait_for_client(struct bb_lane *lane)
{
    int left = wait_time(lane);
    while (!bb__response_spool_try_again(&lane->current->response_spool)) {
        left = shortened(lane, left);
        int look = left >= 0 ? smaller(left, LOOK_EVERY) : LOOK_EVERY;
        show_rate(lane);
        int code = wait_for_room(lane, look);
        if (code == BB_AGAIN) return BB_AGAIN;
        if (code == BB_OK && bb__reply_flush_pending(lane) != BB_OK) return BB_EGONE;
        if (code == BB_OK || has_taken_some(lane))
            left = wait_time(lane);
        else if (left >= 0 && (left -= look) <= 0)
            return BB_EGONE;
        if (is_too_slow(lane)) return BB_EGONE;
    }
    return BB_OK;
}

int bb_reply_wait(struct bb_lane *lane)
{
    if (!current(lane)) return BB_EGONE;
    if (lane->context.log) bb__lane_log_flush(lane);
    if (atomic_load_explicit(&lane->reply.waited, memory_order_relaxed) == 0)
        lane->reply.taken_before = taken_so_far(lane);
    if (!lane->reply.spools) return wait_for_a_moment(lane);
    bool is_first = atomic_load_explicit(&lane->reply.taking, memory_order_relaxed) == 0;
    show_rate(lane); /* first: the I/O thread compares the rates of lanes that wait */
    atomic_store(&lane->reply.waits, true);
    if (is_first) bb__lane_waits(lane);
    int code = wait_for_client(lane);
    bb__conn_count_memory(lane->current, &lane->context);
    if (lane->intake.slot) atomic_store(&lane->intake.slot->taking, 0);
    atomic_store(&lane->reply.waits, false);
    return code;
}
