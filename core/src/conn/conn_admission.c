/* conn_admission.c: see conn_admission.h. */
#include "conn/conn_admission.h"

/* us. A free lane takes a request from the queue sooner than this. Before that, nobody can tell whether
 * the first request in the queue has to wait at all: a lane may have been woken for it, and not show idle
 * any more. */
#define SETTLED 10000

/* ---- how long ---- */

/* Returns us, since when the request waits. 0 for a request that is served at once, even if an earlier
 * request on the connection had to wait. */
static uint64_t since(const struct bb__conn *conn)
{
    return conn->ready_at > 0 && conn->queued_at > conn->ready_at ? conn->queued_at : conn->ready_at;
}

uint64_t bb__conn_waits_since(const struct bb__conn *conn)
{
    return conn->state == BB_CONN_SERVED ? since(conn) : 0;
}

/* In us. `from` may be later than `now`, because another process has read the clock. */
static bool is_longer(uint64_t from, uint64_t now, uint64_t than)
{
    return from > 0 && now > from && now - from >= than;
}

/* A health check is never rejected: it must learn that the server is there, even if late. */
static bool is_health_check(const struct bb__conn_context *context)
{
    const struct bb_slice *path = &context->head.path;
    const char *at = context->settings->health_paths;
    while (*at) {
        size_t len = strcspn(at, " ");
        if (len == path->len && memcmp(at, path->at, len) == 0) return true;
        at += len;
        at += strspn(at, " ");
    }
    return false;
}

static bool has_waited_enough(const struct bb__conn *conn, const struct bb__conn_context *context,
                              uint64_t now)
{
    uint64_t limit = context->settings->queue_timeout;
    return limit > 0 && is_longer(since(conn), now, limit * 1000);
}

bool bb__conn_is_overdue(struct bb__conn *conn, const struct bb__conn_context *context)
{
    uint64_t now = bb__clock_us();
    if (!has_waited_enough(conn, context, now)) return false;
    if (!is_health_check(context)) return true;
    conn->queued_at = now; /* it now counts as new, so that requests behind it are seen */
    return false;
}

/* ---- how many ---- */

/* Returns how many requests are in the queue. *settled: none of them is on its way to a lane. */
static uint64_t count_waiting(const struct bb__conn_context *context, uint64_t now, bool *settled)
{
    const struct bb__shared_queue *shared_queue = context->admission->shared_queue;
    struct bb__shared_stamp first;
    *settled = false;
    if (bb__shared_queue_look(shared_queue, &first) != BB_OK) return 0;
    *settled = is_longer(first.since, now, SETTLED);
    return bb__shared_queue_waiting(shared_queue, &first);
}

/* If some lanes are idle, as many requests do not count, because they do not have to wait. */
static bool is_full(const struct bb__conn_context *context, uint64_t now, uint64_t held, bool *settled)
{
    uint64_t most = context->settings->max_queue;
    if (most == 0) return false;
    uint64_t count = count_waiting(context, now, settled) + held;
    return count >= most &&
           bb__scoreboard_idle(context->admission->scoreboard, (unsigned)(count - most) + 1) <= count - most;
}

bool bb__conn_queue_is_full(const struct bb__conn_context *context)
{
    bool settled = false;
    return is_full(context, bb__clock_us(), 0, &settled) && settled && !is_health_check(context);
}

bool bb__conn_queue_is_full_with(const struct bb__conn_context *context, uint64_t held)
{
    bool settled;
    return is_full(context, bb__clock_us(), held, &settled);
}

/* A health check in the queue would be in the way of requests behind it, which must be rejected in time.
 * So it stays with the lane that has its connection, or goes to an idle lane. The lane may be busy for
 * long, so after queue_timeout the health check goes to the queue all the same. */
static enum bb__conn_verdict turn_of_health_check(struct bb__conn *conn,
                                                  const struct bb__conn_context *context, uint64_t now)
{
    if (context->settings->queue_timeout == 0 || bb__scoreboard_idle(context->admission->scoreboard, 1) > 0)
        return BB_ADMIT_QUEUE;
    if (!has_waited_enough(conn, context, now)) return BB_ADMIT_HOLD;
    conn->queued_at = now;
    return BB_ADMIT_QUEUE;
}

enum bb__conn_verdict bb__conn_admit(struct bb__conn *conn, struct bb__conn_context *context)
{
    uint64_t now = bb__clock_us();
    bool settled = false;
    if (is_health_check(context)) return turn_of_health_check(conn, context, now);
    if (!is_full(context, now, 0, &settled)) return BB_ADMIT_QUEUE;
    return settled || is_longer(since(conn), now, SETTLED) ? BB_ADMIT_REJECT : BB_ADMIT_HOLD;
}
