/* lane_detach.c: connections that leave their lane before the request ends. The host (the program that calls
 * the core) gets another descriptor of the socket. The lane keeps its own descriptor until the request ends.
 * Otherwise the number could belong to another connection while the I/O thread still uses it. See
 * bontebok_stream.h for the contracts. */
#include "sockets/descriptor.h"
#include "stream/request_read.h"
#include "stream/stream.h"

#include <fcntl.h>
#include <unistd.h>

/* Returns the bytes that the client has sent after its request. If the request's body is unbuffered, these
 * are all bytes that the host has not read. */
static struct bb_slice unread_of(const struct bb_lane *lane)
{
    const struct bb__conn *conn = lane->current;
    if (conn->unbuffered && bb__buf_len(&conn->unbuffered->rest) > 0)
        return (struct bb_slice){bb__buf_bytes(&conn->unbuffered->rest),
                                 bb__buf_len(&conn->unbuffered->rest)};
    size_t used = conn->head.len;
    if (conn->body_in_buffer) used += lane->request.head.content_length;
    return (struct bb_slice){bb__buf_bytes(&conn->in) + used, bb__buf_len(&conn->in) - used};
}

/* ends: shows the I/O thread that the response is complete, so that request_timeout does not apply. False:
 * the I/O thread has ended the response, so the host can send no more. */
static bool claim(struct bb_lane *lane, bool ends)
{
    lane->reply.ended = ends;
    if (bb__lane_may_send(lane)) return true;
    lane->reply.failed = BB_EGONE;
    return false;
}

/* untimed: no limit applies to the rest of the request, because the connection speaks no HTTP any more. */
static void forget(struct bb_lane *lane, bool untimed)
{
    lane->reply.sent = lane->reply.detached = true;
    lane->reply.failed = BB_EGONE;
    atomic_store_explicit(&lane->reply.untimed, untimed, memory_order_relaxed);
}

/* ---- hijack ---- */

/* The lane's descriptor becomes a copy of its wakeup, so that the client sees at once when the host closes
 * the socket. The poller must not have the socket any more, because the kernel could not remove it later. If
 * this fails, the client sees the end when the request ends. */
static void let_go(struct bb_lane *lane)
{
    int fd = lane->current->fd;
    bb__poller_remove(&lane->set.poller, fd);
    (void)bb__descriptor_replace(fd, lane->intake.wakeup.fd);
}

/* For the access log: a response that the core has not seen. */
static void note_no_response(struct bb_lane *lane)
{
    lane->reply.encoder.status = 0;
    lane->reply.encoder.keep_alive = false;
    lane->reply.encoder.framing = BB_FRAMING_NONE;
    if (lane->context.log) bb__buf_clear(&lane->context.log->response);
}

/* Sends what the host has written, also parts that are gathered (reply_gather.c). */
static int send_written(struct bb_lane *lane)
{
    uint64_t taken;
    return lane->reply.sent ? bb_reply_write(lane, NULL, 0, false, &taken) : bb__reply_flush_pending(lane);
}

/* After BB_AGAIN of bb_lane_hijack() all is written. Another thread may read the body meanwhile
 * (bb_request_read()), so `awaits_room` stays true. */
int bb_reply_wait_until_sent(struct bb_lane *lane)
{
    if (!bb__lane_current(lane)) return BB_EGONE;
    int code = lane->reply.awaits_room ? BB_OK : send_written(lane);
    return code < 0 ? code : bb__reply_wait_until_sent(lane);
}

int bb_lane_hijack(struct bb_lane *lane, int *fd, struct bb_slice *unread)
{
    struct bb__conn *conn = bb__lane_current(lane);
    if (!conn || lane->reply.failed != BB_OK || lane->reply.ended) return BB_EGONE;
    if (send_written(lane) < 0) return BB_EGONE;
    lane->reply.awaits_room = bb__conn_has_unsent(conn);
    if (lane->reply.awaits_room) return BB_AGAIN;
    int own = fcntl(conn->fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return BB_ESYSTEM;
    if (!claim(lane, true)) {
        bb__sock_abandon(own);
        return BB_EGONE;
    }
    if (!lane->reply.sent) note_no_response(lane);
    forget(lane, true);
    *unread = unread_of(lane);
    *fd = own;
    let_go(lane);
    return BB_OK;
}

/* ---- streams ---- */

/* The stream sends the unsent bytes. */
static void forget_unsent(struct bb_lane *lane)
{
    struct bb__conn *conn = lane->current;
    bb__buf_free(&conn->out);
    conn->unsent.since = 0;
    bb__conn_count_memory(conn, &lane->context);
}

int bb_lane_detach(struct bb_lane *lane, struct bb_stream **created)
{
    struct bb__conn *conn = bb__lane_current(lane);
    if (!conn || lane->reply.failed != BB_OK || lane->reply.sent) return BB_EGONE;
    int code = conn->unbuffered ? bb__request_begin_to_read(lane) : BB_OK;
    if (code != BB_OK) return code;
    struct bb_slice unread = conn->unbuffered ? (struct bb_slice){"", 0} : unread_of(lane);
    struct bb_stream *stream;
    code = bb__stream_new(&stream, lane->worker, conn, &lane->reply.encoder, unread);
    if (code != BB_OK) return code;
    code = bb__stream_put_head(stream, &conn->out, &lane->reply.staged);
    if (code == BB_OK && !claim(lane, bb_stream_is_upgrade(stream))) code = BB_EGONE;
    if (code != BB_OK) {
        bb__stream_leave(stream);
        bb_stream_free(stream);
        return code;
    }
    forget(lane, bb_stream_is_upgrade(stream));
    forget_unsent(lane);
    bb__stream_put_body(stream, conn->unbuffered);
    bb__lane_hold(lane, BB_HELD_STREAM);
    conn->unbuffered = NULL;
    *created = stream;
    return BB_OK;
}

void bb_lane_rejoin(struct bb_lane *lane, struct bb_stream *stream)
{
    struct bb__lane_reply *reply = &lane->reply;
    if (!bb__lane_current(lane) || !reply->detached) return;
    bb__stream_facts(stream, &reply->encoder, &reply->body_length);
    if (bb_stream_is_upgrade(stream)) return;
    if (!claim(lane, true)) {
        bb__stream_leave(stream); /* nobody may serve the next request of this connection */
        return;
    }
    if (!bb__stream_is_complete(stream)) return;
    reply->detached = false;
    lane->current->large = true; /* the response may still be on its way */
    reply->ended_as = reply->failed = BB_OK;
    lane->current->unbuffered = bb__stream_take_body(stream);
    bb__stream_leave(stream);
}

/* The I/O thread sees the lane wait for its client: the time does not count for request_timeout, and if other
 * requests need the lane, a client that reads slowly is reset (io_readers.c). */
void bb_lane_wait_for_stream(struct bb_lane *lane, struct bb_stream *stream, enum bb_stream_event event)
{
    uint64_t since = bb__clock_ms();
    if (!bb__lane_current(lane)) return;
    if (event == BB_STREAM_READABLE) {
        bb__request_await(lane, bb_stream_fd(stream), false);
        return;
    }
    bb__reply_begin_to_wait(lane, bb__stream_taking_rate(stream));
    bb_stream_wait(stream, BB_STREAM_WRITABLE);
    atomic_fetch_add(&lane->reply.waited, bb__elapsed(bb__clock_ms(), since));
    bb__reply_end_to_wait(lane);
}
