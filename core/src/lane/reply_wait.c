/* reply_wait.c: how a lane waits for the client of its request. The lane first waits for a millisecond or two
 * (BB_MOMENT), because writing the unsent bytes to a file costs more. If neither memory nor the spool has
 * room for the unsent bytes, the lane waits until there is room. Before a hijack the lane waits until all
 * bytes are sent. The I/O thread ends these two waits if other requests need the lane (io_readers.c). See
 * bontebok.h for the contracts. */
#include "lane/lane.h"

#include <limits.h>

/* ms, the longest single wait. Before each wait, the lane shows the client's rate to the I/O thread. */
#define LOOK_EVERY 100

static int smaller(int one, int other)
{
    return one < other ? one : other;
}

/* ---- progress ---- */

void bb__reply_note_progress(struct bb_lane *lane)
{
    lane->reply.write_progress = bb__clock_ms();
    lane->current->unsent.untaken = bb__sock_untaken(lane->current->fd);
}

/* Returns ms until write_timeout is over if the client takes nothing; -1: no limit. */
static int wait_time(const struct bb_lane *lane)
{
    uint64_t limit = lane->worker->settings.write_timeout;
    if (limit == 0) return -1;
    uint64_t stalled = bb__elapsed(bb__clock_ms(), lane->reply.write_progress);
    if (stalled >= limit) return 0;
    return limit - stalled > INT_MAX ? INT_MAX : (int)(limit - stalled);
}

/* Returns whether the client has taken bytes, and notes the time. Asks the kernel how many bytes are untaken,
 * because the socket becomes writable only when much of its buffer, perhaps megabytes, is free. */
static bool look_for_progress(struct bb_lane *lane)
{
    if (bb__sock_untaken(lane->current->fd) >= lane->current->unsent.untaken) return false;
    bb__reply_note_progress(lane);
    return true;
}

int bb__reply_send_pending(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->current;
    if (!bb__conn_has_unsent(conn)) return BB_OK;
    uint64_t before = bb__conn_unsent(conn);
    int code = bb__conn_flush(conn, &lane->context);
    uint64_t pending = bb__conn_unsent(conn);
    lane->reply.given += (int64_t)(before - pending);
    if (code == BB_EGONE) return BB_EGONE;
    if (pending == 0) lane->reply.spools = false;
    if (pending == before) return BB_AGAIN;
    bb__reply_note_progress(lane);
    return BB_OK;
}

/* The host (Ruby) may write for long without waiting, so write_timeout is checked here as well. */
int bb__reply_flush_pending(struct bb_lane *lane)
{
    if (!bb__conn_has_unsent(lane->current)) return BB_OK;
    int code = bb__reply_send_pending(lane);
    if (code != BB_AGAIN) return code;
    return wait_time(lane) == 0 && !look_for_progress(lane) ? BB_EGONE : BB_OK;
}

/* Returns how many bytes the client has taken. On a unix socket, the kernel's count of untaken bytes includes
 * the kernel's overhead. For small parts the overhead is a hundred times the bytes. So the result may be
 * smaller than the result of an earlier call. */
static int64_t taken_so_far(const struct bb_lane *lane)
{
    return lane->reply.given - bb__sock_untaken(lane->current->fd);
}

static bool is_too_slow(const struct bb_lane *lane)
{
    const struct bb__lane_reply *reply = &lane->reply;
    int64_t rate = (int64_t)lane->worker->settings.min_body_rate;
    return (taken_so_far(lane) - reply->taken_before + BB_RATE_CREDIT) * 1000 <
           rate * (int64_t)atomic_load_explicit(&reply->waited, memory_order_relaxed);
}

/* ---- waiting ---- */

/* Waits for at most `look` ms. BB_OK: there is room; BB_AGAIN: bb_lane_wake() was called; BB_EGONE: there is
 * no room. If the process is frozen (SIGSTOP) during the wait, at most `look` ms count. */
static int wait_for_room(struct bb_lane *lane, int look)
{
    uint64_t since = bb__clock_ms();
    int code = bb__sock_wait_writable(lane->current->fd, lane->intake.wakeup.fd, look);
    uint64_t time = bb__elapsed(bb__clock_ms(), since);
    atomic_fetch_add(&lane->reply.waited, time < (uint64_t)look ? time : (uint64_t)look);
    if (code == BB_AGAIN) bb__wakeup_clear(&lane->intake.wakeup);
    return code;
}

static int wait_for_a_moment(struct bb_lane *lane)
{
    struct bb__lane_reply *reply = &lane->reply;
    uint64_t since = bb__clock_us();
    int code = wait_for_room(lane, BB_MOMENT);
    if (code == BB_AGAIN) return BB_AGAIN;
    reply->moments += bb__elapsed(bb__clock_us(), since);
    uint64_t allowed = BB_MOMENT * 1000 + ((uint64_t)reply->given >> 20) * BB_MOMENT_PER_MIB;
    reply->spools = code != BB_OK || reply->moments > allowed;
    return code == BB_OK ? bb__reply_flush_pending(lane) : BB_OK;
}

/* While the worker drains (ends gracefully), shortens a wait to keepalive_drain. */
static int shortened(const struct bb_lane *lane, int left)
{
    uint64_t drain = lane->worker->settings.keepalive_drain;
    if (!bb__worker_drains(lane->worker) || drain > INT_MAX) return left;
    return left < 0 ? (int)drain : smaller(left, (int)drain);
}

static void show_rate(struct bb_lane *lane, uint64_t rate)
{
    uint64_t taking = 1 + rate;
    atomic_store(&lane->reply.taking, taking);
    if (lane->intake.slot) atomic_store(&lane->intake.slot->taking, taking);
}

/* If taken_so_far() has become smaller, lowers taken_before, so that the client does not count as slower. */
static void correct_taken_before(struct bb_lane *lane)
{
    int64_t taken = taken_so_far(lane);
    if (taken < lane->reply.taken_before) lane->reply.taken_before = taken;
}

/* Waits for at most slice ms. *left: ms for which the client may still take nothing; -1: no limit. BB_OK;
 * BB_AGAIN: bb_lane_wake() was called; BB_EGONE: the client has closed the connection, has taken nothing for
 * too long, or is too slow. */
static int wait_for_slice(struct bb_lane *lane, int slice, int *left)
{
    int code = wait_for_room(lane, slice);
    if (code == BB_AGAIN) return BB_AGAIN;
    bool has_room = code == BB_OK;
    if (has_room && bb__reply_flush_pending(lane) != BB_OK) return BB_EGONE;
    if (has_room || look_for_progress(lane)) {
        *left = wait_time(lane);
    } else if (*left >= 0) {
        *left -= slice;
        if (*left <= 0) return BB_EGONE;
    }
    correct_taken_before(lane);
    return is_too_slow(lane) ? BB_EGONE : BB_OK;
}

static uint64_t rate_now(const struct bb_lane *lane)
{
    return bb__conn_taking_rate(lane->current, bb__clock_ms());
}

static bool has_room(const struct bb_lane *lane)
{
    return bb__response_spool_try_again(&lane->current->response_spool);
}

static bool has_sent_all(const struct bb_lane *lane)
{
    return !bb__conn_has_unsent(lane->current);
}

static int wait_for_client(struct bb_lane *lane, bool (*is_over)(const struct bb_lane *))
{
    int left = wait_time(lane), code = BB_OK;
    while (code == BB_OK && !is_over(lane)) {
        left = shortened(lane, left);
        show_rate(lane, rate_now(lane));
        code = wait_for_slice(lane, left >= 0 ? smaller(left, LOOK_EVERY) : LOOK_EVERY, &left);
    }
    return code;
}

/* Once `waits` is true, the I/O thread may end the wait. The I/O thread compares the rates of waiting lanes,
 * so the rate is set before `waits`. */
void bb__reply_begin_to_wait(struct bb_lane *lane, uint64_t rate)
{
    bool is_first = atomic_load_explicit(&lane->reply.taking, memory_order_relaxed) == 0;
    show_rate(lane, rate);
    atomic_store(&lane->reply.waits, true);
    if (is_first) bb__lane_announce_wait(lane);
}

void bb__reply_end_to_wait(struct bb_lane *lane)
{
    if (lane->intake.slot) atomic_store(&lane->intake.slot->taking, 0);
    atomic_store(&lane->reply.waits, false);
}

static void prepare_to_wait(struct bb_lane *lane)
{
    if (lane->context.log) bb__lane_log_flush(lane);
    bool has_waited = atomic_load_explicit(&lane->reply.waited, memory_order_relaxed) > 0;
    if (!has_waited) lane->reply.taken_before = taken_so_far(lane);
}

static int wait_until(struct bb_lane *lane, bool (*is_over)(const struct bb_lane *))
{
    bb__reply_begin_to_wait(lane, rate_now(lane));
    int code = wait_for_client(lane, is_over);
    bb__conn_count_memory(lane->current, &lane->context);
    bb__reply_end_to_wait(lane);
    return code;
}

int bb_reply_wait(struct bb_lane *lane)
{
    if (!bb__lane_current(lane)) return BB_EGONE;
    prepare_to_wait(lane);
    return lane->reply.spools ? wait_until(lane, has_room) : wait_for_a_moment(lane);
}

/* Whether the worker drains, and the client has taken nothing for keepalive_drain since then. See
 * shortened(). */
static bool delays_the_drain(struct bb_lane *lane)
{
    const struct bb_worker *worker = lane->worker;
    if (!bb__worker_drains(worker)) return false;
    uint64_t began = atomic_load(&worker->drain.began), progress = lane->reply.write_progress;
    uint64_t stalled = bb__elapsed(lane->context.now, progress > began ? progress : began);
    return stalled >= worker->settings.keepalive_drain && !look_for_progress(lane);
}

int bb_reply_spool(struct bb_lane *lane)
{
    if (!bb__lane_current(lane)) return BB_EGONE;
    bool spooled = lane->reply.spools;
    lane->reply.spools = true;
    if (!spooled || has_room(lane)) return BB_OK;
    lane->context.now = bb__clock_ms();
    bool ends = bb__conn_takes_too_slowly(lane->current, &lane->context) || delays_the_drain(lane);
    return ends ? BB_EGONE : BB_AGAIN;
}

int bb__reply_wait_until_sent(struct bb_lane *lane)
{
    prepare_to_wait(lane);
    return wait_until(lane, has_sent_all);
}
