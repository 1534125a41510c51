/* request_read.c: the host (the program that calls the core) reads an unbuffered request body from a lane,
 * which is a thread that serves requests. See bontebok_body.h for the contracts. */
#include "stream/request_read.h"

/* If the socket does not take the whole 100, its rest must come before anything else. The I/O thread must not
 * send a 504 after this call. */
static int say_continue(struct bb_lane *lane)
{
    int code = bb__conn_say_continue(lane->current, &lane->context);
    if (code != BB_OK || !bb__conn_has_unsent(lane->current)) return code;
    bb__reply_note_progress(lane);
    return bb__lane_may_send(lane) ? BB_OK : BB_EGONE;
}

/* A client that has begun to send its body does not wait for the 100 (RFC 9110 10.1.1). After the head of the
 * response was sent, it is too late for a 100. */
int bb__request_begin_to_read(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->current;
    struct bb__unbuffered *body = conn->unbuffered;
    int code = bb__conn_move_rest(conn);
    bool says = body->awaits_continue && !lane->reply.sent && bb__buf_len(&body->rest) == 0;
    body->awaits_continue = false;
    return code == BB_OK && says ? say_continue(lane) : code;
}

/* The client may wait for unsent bytes. */
static int send_unsent(struct bb_lane *lane)
{
    bb__reply_stop_gathering(lane);
    int code = bb__request_begin_to_read(lane);
    return code == BB_OK ? bb__reply_send_pending(lane) : code;
}

/* The client lives, although it may read nothing before it has sent its body. */
static void note_unsent(struct bb_lane *lane, bool has_read)
{
    bool unsent = bb__conn_has_unsent(lane->current);
    if (has_read && unsent) bb__reply_note_progress(lane);
    lane->reply.await_writable = unsent && !bb__conn_waits_for_disk(lane->current);
    bb__reply_leave_unsent(lane);
}

/* If the lane's thread waits until the client takes bytes, that thread sends the unsent bytes. It waits
 * without the host's lock, so only the body may be used. */
int bb_request_read(struct bb_lane *lane, char *bytes, size_t len, size_t *got)
{
    struct bb__conn *conn = bb__lane_current(lane);
    *got = 0;
    if (!conn || lane->turn.then != BB_THEN_NOTHING) return BB_EGONE;
    if (!conn->unbuffered) return BB_EOF;
    bool beside = lane->reply.awaits_room;
    int code = beside ? bb__conn_move_rest(conn) : send_unsent(lane);
    if (code < 0) return code;
    code = bb__unbuffered_read(conn->unbuffered, conn->fd, &lane->worker->settings, bytes, len, got);
    lane->reply.await_writable = false;
    if (!beside) note_unsent(lane, code == BB_OK);
    return code;
}

int bb_request_fd(const struct bb_lane *lane)
{
    const struct bb__conn *conn = bb__lane_current(lane);
    return conn ? conn->fd : -1;
}

/* ---- waiting ---- */

/* sends: the wait also ends if the socket takes bytes. If the process is frozen (SIGSTOP) during the wait, at
 * most BB_UNBUFFERED_WAIT_MAX ms count. */
void bb__request_await(struct bb_lane *lane, int fd, bool sends)
{
    struct bb__lane_reply *reply = &lane->reply;
    uint64_t since = bb__clock_ms();
    atomic_store(&reply->receives, true);
    if (!reply->has_received) bb__lane_announce_wait(lane);
    reply->has_received = true;
    enum bb_held before = bb__scoreboard_held(lane->intake.slot);
    bb__lane_hold(lane, BB_HELD_BODY);
    int code = bb__sock_wait_readable(fd, sends, lane->intake.wakeup.fd, BB_UNBUFFERED_WAIT_MAX);
    if (code == BB_AGAIN) bb__wakeup_clear(&lane->intake.wakeup);
    uint64_t time = bb__elapsed(bb__clock_ms(), since);
    atomic_fetch_add(&reply->received_for, time < BB_UNBUFFERED_WAIT_MAX ? time : BB_UNBUFFERED_WAIT_MAX);
    bb__scoreboard_hold_next(lane->intake.slot, BB_HELD_BODY, before);
    atomic_store(&reply->receives, false);
}

/* The client may wait for unsent bytes, for example for the 100. They are not read here, because another
 * thread may write meanwhile. */
void bb_request_wait(struct bb_lane *lane)
{
    const struct bb__conn *conn = bb__lane_current(lane);
    if (conn) bb__request_await(lane, conn->fd, lane->reply.await_writable);
}
