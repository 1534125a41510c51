/* conn_set.c: see conn_set.h. */
#include "lane/conn_set.h"
#include "conn/conn_admission.h"

#include <errno.h>

int bb__conn_set_open(struct bb__conn_set *set, const struct bb_settings *settings,
                      atomic_uint_fast64_t *process_count)
{
    *set = (struct bb__conn_set){.poller.fd = -1, .process_count = process_count, .due_back = BB_NOT_DUE};
    bb__conn_set_durations(&set->timeouts, settings);
    return bb__poller_open(&set->poller);
}

void bb__conn_set_excuse(struct bb__conn_set *set, uint64_t now)
{
    bb__timeout_put_off(&set->timeouts, set->due_back, now);
    for (struct bb__conn *conn = set->conns; conn; conn = conn->set.next)
        bb__conn_excuse(conn, set->due_back, now);
}

void bb__conn_set_close(struct bb__conn_set *set)
{
    bb__poller_close(&set->poller);
}

void bb__conn_set_add(struct bb__conn_set *set, struct bb__conn *conn)
{
    conn->set.previous = NULL;
    conn->set.next = set->conns;
    if (conn->set.next) conn->set.next->set.previous = conn;
    set->conns = conn;
    set->count++;
    atomic_fetch_add_explicit(set->process_count, 1, memory_order_relaxed);
}

void bb__conn_set_show(const struct bb__conn_set *set, struct bb__metrics_block *block)
{
    uint64_t waiting = 0;
    if (!block) return;
    for (int kind = BB_TIMEOUT_NONE + 1; kind < BB_TIMEOUT_KINDS; kind++) {
        unsigned count = set->timeouts.kinds[kind].count;
        atomic_store_explicit(&block->gauges[kind - 1], count, memory_order_relaxed);
        waiting += count;
    }
    atomic_store_explicit(&block->gauges[BB_CONNECTION_SERVED], (unsigned)(set->count - waiting),
                          memory_order_relaxed);
}

_Static_assert(BB_CONNECTION_DISK == (int)BB_TIMEOUT_DISK - 1, "the gauges have the order of the timeouts");

struct bb__conn *bb__conn_set_take(struct bb__conn_set *set, struct bb__conn_context *context, int fd,
                                   unsigned listener, const struct bb__peer *peer)
{
    struct bb__conn *conn = bb__conn_new(fd, context);
    if (!conn) {
        bb__sock_close(fd);
        return NULL;
    }
    conn->listener = (uint8_t)listener;
    conn->peer = *peer;
    bb__conn_set_add(set, conn);
    return conn;
}

struct bb__conn *bb__conn_set_accept(struct bb__conn_set *set, struct bb__conn_context *context, int fd,
                                     unsigned listener, const struct bb__peer *peer)
{
    struct bb__conn *conn = bb__conn_set_take(set, context, fd, listener, peer);
    if (conn) bb__count(&context->counts, BB_COUNT_ACCEPTED, 1);
    return conn;
}

static void tell_lost(struct bb__conn_context *context, struct bb__event_pace *lost, int error,
                      const char *text)
{
    const struct bb_event event = {.error = error, .text = text};
    bb__event_add_paced(&context->events, lost, context->now, &event);
}

/* A request that a worker cannot serve goes back to the shared queue, at most this many times. After that, a
 * worker rejects the request. */
#define SENT_BACK_MAX 3

static bool is_for_others(const struct bb__conn_context *context, const struct bb__shared_message *message)
{
    return context->group != BB_GROUP_ANY && bb__conn_is_for_others(context, context->scratch, message) &&
           bb__clock_us() < message->stamp.since + (uint64_t)BB_CANARY_PASSING * 1000;
}

static bool is_useless(const struct bb__conn_context *context, const struct bb__shared_message *message)
{
    return message->stamp.sent_back < SENT_BACK_MAX &&
           !bb__conn_is_for_us(context, context->scratch, message);
}

enum bb__received bb__conn_set_receive(struct bb__conn_set *set, struct bb__conn_context *context,
                                       const struct bb__shared_queue *shared_queue,
                                       struct bb__event_pace *lost, struct bb__conn **conn)
{
    struct bb__shared_message message;
    *conn = NULL;
    switch (bb__shared_queue_take(shared_queue, context->scratch, &message)) {
    case BB_OK:
        break;
    case BB_ELOST:
        tell_lost(context, lost, 0, "a connection that was passed on is lost: no descriptors are left");
        return BB_RECEIVED_LOST;
    case BB_ESYSTEM:
        tell_lost(context, lost, errno, "shared queue: no message can be received");
        return BB_RECEIVED_NOTHING;
    default:
        return BB_RECEIVED_NOTHING;
    }
    if (message.fd_count == 0) return BB_RECEIVED_NUDGE;
    bool others = is_for_others(context, &message), useless = !others && is_useless(context, &message);
    message.stamp.sent_back += useless;
    if ((others || useless) && bb__shared_queue_send_back(shared_queue, context->scratch, &message) == BB_OK)
        return others ? BB_RECEIVED_OTHERS : BB_RECEIVED_MESSAGE;
    *conn = bb__conn_receive(context, context->scratch, &message);
    if (*conn)
        bb__conn_set_add(set, *conn);
    else
        tell_lost(context, lost, 0,
                  "a connection that was passed on is lost: no memory, or an incomplete message");
    return BB_RECEIVED_MESSAGE;
}

/* Returns 1 if the poller reports when the client takes bytes, else 0. */
static unsigned awaits_taking(const struct bb__conn *conn)
{
    return conn->set.registered && (conn->set.interest & BB_INTEREST_WRITE);
}

void bb__conn_set_end(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                      enum bb__conn_end end)
{
    /* While a forked child has a copy of the descriptor, closing does not remove it from the poller. The
     * poller would then report events of a freed connection. A forked child (BB_CONN_END_ABANDON) removes
     * nothing, because the poller belongs to the parent. */
    if (conn->set.registered && end != BB_CONN_END_ABANDON) bb__poller_remove(&set->poller, conn->fd);
    /* The connection is not in the ready list. A ready connection has no timeout and reports no events, so it
     * is ended only together with the whole set. */
    bb__batch_forget(&set->batch, conn);
    if (conn->set.previous)
        conn->set.previous->set.next = conn->set.next;
    else
        set->conns = conn->set.next;
    if (conn->set.next) conn->set.next->set.previous = conn->set.previous;
    set->count--;
    set->unsent -= awaits_taking(conn);
    set->has_room = true;
    atomic_fetch_sub_explicit(set->process_count, 1, memory_order_relaxed);
    bb__conn_free(conn, context, end);
}

void bb__conn_set_unwatch(struct bb__conn_set *set, struct bb__conn *conn)
{
    if (conn->set.registered) bb__poller_remove(&set->poller, conn->fd);
    set->unsent -= awaits_taking(conn);
    conn->set.registered = false;
}

/* Takes the connection out of the poller, which would otherwise report the connection at each epoll_wait()
 * until the connection is read. */
static void push_ready(struct bb__conn_set *set, struct bb__conn *conn)
{
    bb__conn_set_unwatch(set, conn);
    conn->set.is_ready = true;
    conn->set.next_ready = NULL;
    if (set->ready_last)
        set->ready_last->set.next_ready = conn;
    else
        set->ready_first = conn;
    set->ready_last = conn;
    set->ready_count++;
}

struct bb__conn *bb__conn_set_take_ready(struct bb__conn_set *set)
{
    struct bb__conn *conn = set->ready_first;
    set->ready_first = conn->set.next_ready;
    if (!set->ready_first) set->ready_last = NULL;
    set->ready_count--;
    conn->set.is_ready = false;
    return conn;
}

void bb__conn_set_hurry(struct bb__conn_set *set, uint64_t wait_time, uint64_t began)
{
    static const enum bb__timeout_kind idle[] = {BB_TIMEOUT_FRESH, BB_TIMEOUT_HEADER, BB_TIMEOUT_KEEPALIVE,
                                                 BB_TIMEOUT_LINGER};
    if (set->hurried) return;
    set->hurried = true;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        bb__timeout_shorten(&set->timeouts, idle[i], wait_time > 0 ? wait_time : 1, began);
}

static bool watch(struct bb__conn_set *set, struct bb__conn *conn)
{
    if (conn->set.registered && conn->set.interest == conn->want) return true;
    set->unsent -= awaits_taking(conn);
    int code = conn->set.registered ? bb__poller_change(&set->poller, conn->fd, conn->want, conn)
                                    : bb__poller_add(&set->poller, conn->fd, conn->want, conn);
    conn->set.registered = true;
    conn->set.interest = conn->want;
    set->unsent += awaits_taking(conn);
    return code == BB_OK;
}

/* Passes on a connection that is not watched any more. False: the set still owns it. While the first ready
 * connection waits for room in the shared queue, no other connection is passed on. */
static bool pass_on(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                    const struct bb__shared_queue *shared_queue)
{
    if (set->shared_queue_is_full && set->ready_first) return false;
    int code = bb__conn_transfer(conn, context->addresses, shared_queue);
    set->shared_queue_is_full = code == BB_AGAIN;
    if (code == BB_ESYSTEM) (void)bb__conn_report(conn, context, BB_REASON_UNSENT, errno);
    if (code != BB_OK) return false;
    bb__count(&context->counts, BB_COUNT_PASSED_ON, 1);
    bb__conn_set_end(set, context, conn, BB_CONN_END_ABANDON);
    return true;
}

static void turn_away(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn)
{
    (void)bb__conn_set_settle(set, context, conn,
                              bb__conn_reject_queued(conn, context, BB_REASON_QUEUE_FULL));
}

void bb__conn_set_pass(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                       const struct bb__shared_queue *shared_queue)
{
    bb__conn_set_unwatch(set, conn);
    bb__conn_has_to_wait(conn);
    enum bb__conn_verdict turn = context->admission ? bb__conn_admit(conn, context) : BB_ADMIT_QUEUE;
    if (turn == BB_ADMIT_REJECT) {
        turn_away(set, context, conn);
        return;
    }
    bool can_go = turn == BB_ADMIT_QUEUE && !bb__conn_has_unsent(conn);
    if (can_go && pass_on(set, context, conn, shared_queue)) return;
    if (can_go && context->admission && bb__conn_queue_is_full_with(context, set->ready_count))
        turn_away(set, context, conn);
    else
        push_ready(set, conn);
}

/* A connection that has received only a part of a head counts as idle. */
static bool is_idle(const struct bb__conn *conn)
{
    return conn->state == BB_CONN_HEAD && !conn->set.is_ready && !bb__conn_has_unsent(conn);
}

bool bb__conn_set_pass_one_idle(struct bb__conn_set *set, struct bb__conn_context *context,
                                struct bb__conn *conn, const struct bb__shared_queue *shared_queue,
                                enum bb__group group)
{
    bb__conn_set_unwatch(set, conn);
    conn->group = (uint8_t)group;
    if (pass_on(set, context, conn, shared_queue)) return true;
    conn->group = BB_GROUP_ANY;
    (void)bb__conn_set_settle(set, context, conn, BB_CONN_WAIT);
    return false;
}

bool bb__conn_set_pass_idle(struct bb__conn_set *set, struct bb__conn_context *context,
                            const struct bb__shared_queue *shared_queue)
{
    bool all = true;
    for (struct bb__conn *conn = set->conns, *next; conn; conn = next) {
        next = conn->set.next;
        if (!is_idle(conn)) continue;
        bool needs_file = bb__conn_needs_file(conn);
        if (bb__conn_set_pass_one_idle(set, context, conn, shared_queue, BB_GROUP_ANY)) continue;
        if (!needs_file) return false;
        all = false;
    }
    return all;
}

bool bb__conn_set_settle(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                         enum bb__conn_next next)
{
    switch (next) {
    case BB_CONN_REQUEST:
        return true;
    case BB_CONN_WAIT:
        if (watch(set, conn)) return false;
        (void)bb__conn_report(conn, context, BB_REASON_UNWATCHED, errno);
        bb__conn_set_end(set, context, conn, BB_CONN_END_RESET);
        return false;
    case BB_CONN_AGAIN:
        bb__conn_has_to_wait(conn);
        push_ready(set, conn);
        return false;
    case BB_CONN_CLOSE:
        bb__conn_set_end(set, context, conn, bb__conn_end_of(conn));
        return false;
    }
    return false;
}
