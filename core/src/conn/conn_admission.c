/* conn_admission.c: see conn_admission.h. A lane is a thread that serves requests. */
#include "conn/conn_admission.h"
#include "base/path_list.h"
#include "base/tuning.h"

/* ---- how long ---- */

/* Returns the start of the request's wait (us): the later of ready_at and queued_at. 0: the request need not
 * wait. In this case ready_at is 0, and queued_at is from an earlier request on the connection. */
static uint64_t since(const struct bb__conn *conn)
{
    return conn->wait.ready_at > 0 && conn->wait.queued_at > conn->wait.ready_at ? conn->wait.queued_at
                                                                                 : conn->wait.ready_at;
}

uint64_t bb__conn_waits_since(const struct bb__conn *conn)
{
    return conn->state == BB_CONN_SERVED ? since(conn) : 0;
}

/* All times are in us. `from` may be later than `now`, because another process has measured `from`. */
static bool is_longer(uint64_t from, uint64_t now, uint64_t than)
{
    return from > 0 && bb__elapsed(now, from) >= than;
}

/* A health check is a request for one of health_paths. It is never rejected, because even a late response
 * tells the client that the server is there. */
static bool is_health_check(const struct bb__conn_context *context)
{
    const struct bb_slice *path = &context->head.path;
    return bb__path_is_listed(context->settings->health_paths, path->at, path->len, false);
}

static bool has_waited_enough(const struct bb__conn *conn, const struct bb__conn_context *context,
                              uint64_t now)
{
    uint64_t limit = context->settings->queue_timeout;
    return limit > 0 && is_longer(since(conn), now, limit * 1000);
}

bool bb__conn_is_overdue(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    return has_waited_enough(conn, context, bb__clock_us()) && !is_health_check(context);
}

void bb__conn_restart_health_check(struct bb__conn *conn, const struct bb__conn_context *context)
{
    uint64_t now = bb__clock_us();
    if (has_waited_enough(conn, context, now) && is_health_check(context)) conn->wait.queued_at = now;
}

/* ---- how many ---- */

struct look {
    uint64_t now;   /* us */
    uint64_t count; /* requests in the queue */
    bool settled;   /* the first request has waited for BB_SETTLED us, so no lane is about to take it */
};

static struct look look_at_queue(const struct bb__conn_context *context)
{
    const struct bb__shared_queue *shared_queue = context->admission->shared_queue;
    struct look look = {.now = bb__clock_us()};
    struct bb__shared_stamp first;
    if (bb__shared_queue_look(shared_queue, &first) != BB_OK) return look;
    look.count = bb__shared_queue_waiting(shared_queue, &first);
    look.settled = is_longer(first.since, look.now, BB_SETTLED);
    return look;
}

/* Returns whether `count` requests reach max_queue. Each idle lane is about to take one request. These
 * requests do not count. */
static bool is_full(const struct bb__conn_context *context, uint64_t count)
{
    uint64_t most = context->settings->max_queue;
    if (most == 0 || count < most) return false;
    unsigned enough = (unsigned)(count - most) + 1;
    return bb__scoreboard_idle(context->admission->scoreboard, enough) < enough;
}

bool bb__conn_queue_is_full(const struct bb__conn_context *context)
{
    if (context->settings->max_queue == 0) return false;
    struct look look = look_at_queue(context);
    return look.settled && is_full(context, look.count) && !is_health_check(context);
}

bool bb__conn_queue_is_full_with(const struct bb__conn_context *context, uint64_t held)
{
    return context->settings->max_queue > 0 && is_full(context, look_at_queue(context).count + held);
}

/* queue_timeout rejects requests at the front of the queue. A health check at the front cannot be rejected,
 * and delays the rejection of the requests after it. So while no lane is idle, a health check stays outside
 * of the queue. After queue_timeout it enters the queue, and its wait begins again. */
static enum bb__conn_verdict admit_health_check(struct bb__conn *conn, const struct bb__conn_context *context)
{
    bool lane_is_idle = bb__scoreboard_idle(context->admission->scoreboard, 1) > 0;
    if (context->settings->queue_timeout == 0 || lane_is_idle) return BB_ADMIT_QUEUE;
    uint64_t now = bb__clock_us();
    if (!has_waited_enough(conn, context, now)) return BB_ADMIT_HOLD;
    conn->wait.queued_at = now;
    return BB_ADMIT_QUEUE;
}

enum bb__conn_verdict bb__conn_admit(struct bb__conn *conn, const struct bb__conn_context *context)
{
    if (is_health_check(context)) return admit_health_check(conn, context);
    if (context->settings->max_queue == 0) return BB_ADMIT_QUEUE;
    struct look look = look_at_queue(context);
    if (!is_full(context, look.count)) return BB_ADMIT_QUEUE;
    bool has_settled = look.settled || is_longer(since(conn), look.now, BB_SETTLED);
    return has_settled ? BB_ADMIT_REJECT : BB_ADMIT_HOLD;
}
