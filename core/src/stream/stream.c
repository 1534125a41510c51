/* stream.c: the rest of a response that has left its lane. The host (the program that calls the core) writes
 * the parts from any thread. Bytes that the socket does not take stay in `out`, and the host waits. Neither
 * lanes nor the I/O thread use a stream. See bontebok_stream.h for the contracts, and reply.c for responses
 * that end with their request. */
#include "stream/stream.h"

#include "conn/conn_transfer.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes. A part is framed in slices of this size, so that little is copied for a slow client. */
#define SLICE_MAX (64 * 1024)

/* ms, the longest wait. The caller then checks the limits again. */
#define WAIT_MAX 1000

/* Reads of unread input at the end. A client that sends for ever must not hold the host. */
#define DROPS_MAX 16

struct bb_stream {
    struct bb_worker *worker;
    int fd; /* -1: the lane has the connection again */
    bool tcp, is_upgrade;
    bool ended;       /* the end of the body is in `out`, or was sent */
    int failed;       /* the first error; no more bytes may be sent */
    uint8_t listener; /* the following three are for the next lane of the connection */
    uint64_t served;
    struct bb__peer peer;
    struct bb__h1_reply encoder;
    struct bb__buf out;          /* framed bytes that the socket has not taken */
    struct bb__buf unread;       /* bytes that came before the stream began */
    struct bb__unbuffered *body; /* the request's body, if it is unbuffered; else NULL */
    uint64_t body_length;
    uint64_t counted;      /* bytes of the body that the lane counts */
    struct {               /* while the socket takes no more */
        uint64_t since;    /* ms, when `out` began to wait; 0: it does not wait */
        uint64_t progress; /* ms, when the client last took bytes */
        uint64_t taken;    /* bytes that the socket has taken since `since` */
        int untaken;       /* bb__sock_untaken() at `progress` */
    } wait;
};

int bb__stream_new(struct bb_stream **created, struct bb_worker *worker, const struct bb__conn *conn,
                   const struct bb__h1_reply *encoder, struct bb_slice unread)
{
    struct bb_stream *stream = calloc(1, sizeof *stream);
    if (!stream) return BB_ENOMEM;
    int code = unread.len > 0 ? bb__buf_append(&stream->unread, unread.at, unread.len) : BB_OK;
    stream->fd = code == BB_OK ? fcntl(conn->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (code == BB_OK && stream->fd < 0) code = BB_ESYSTEM;
    if (code != BB_OK) {
        bb__buf_free(&stream->unread);
        free(stream);
        return code;
    }
    stream->worker = worker;
    stream->tcp = conn->tcp;
    stream->listener = conn->listener;
    stream->served = conn->served;
    stream->peer = conn->peer;
    stream->encoder = *encoder;
    stream->is_upgrade = encoder->status == 101;
    *created = stream;
    return BB_OK;
}

int bb__stream_put_head(struct bb_stream *stream, const struct bb__buf *interim, struct bb__buf *head)
{
    if (bb__buf_len(interim) == 0) {
        stream->out = *head;
        *head = (struct bb__buf){0};
        return BB_OK;
    }
    int code = bb__buf_append(&stream->out, bb__buf_bytes(interim), bb__buf_len(interim));
    if (code == BB_OK) code = bb__buf_append(&stream->out, bb__buf_bytes(head), bb__buf_len(head));
    if (code == BB_OK) bb__buf_clear(head);
    return code;
}

void bb__stream_put_body(struct bb_stream *stream, struct bb__unbuffered *body)
{
    stream->body = body;
}

struct bb__unbuffered *bb__stream_take_body(struct bb_stream *stream)
{
    struct bb__unbuffered *body = stream->body;
    stream->body = NULL;
    return body;
}

void bb__stream_leave(struct bb_stream *stream)
{
    bb__sock_abandon(stream->fd);
    stream->fd = -1;
}

bool bb__stream_is_complete(const struct bb_stream *stream)
{
    return stream->ended && stream->failed == BB_OK && bb__buf_len(&stream->out) == 0 && stream->fd >= 0;
}

void bb__stream_facts(struct bb_stream *stream, struct bb__h1_reply *encoder, uint64_t *body_length)
{
    *encoder = stream->encoder;
    *body_length = stream->body_length;
    stream->counted = bb__reply_length(encoder, stream->body_length);
}

bool bb_stream_is_upgrade(const struct bb_stream *stream)
{
    return stream->is_upgrade;
}

uint64_t bb__stream_taking_rate(const struct bb_stream *stream)
{
    return bb__rate_of(stream->wait.taken, bb__elapsed(bb__clock_ms(), stream->wait.since));
}

int bb_stream_fd(const struct bb_stream *stream)
{
    return stream->fd;
}

static bool is_over(const struct bb_stream *stream)
{
    return stream->fd < 0 || bb__worker_is_inert(stream->worker);
}

/* ---- writing ---- */

static void note_taking(struct bb_stream *stream, uint64_t now)
{
    stream->wait.progress = now;
    stream->wait.untaken = bb__sock_untaken(stream->fd);
}

static bool is_too_slow(const struct bb_stream *stream, uint64_t now)
{
    return bb__rate_is_too_low(stream->wait.taken, bb__elapsed(now, stream->wait.since),
                               &stream->worker->settings);
}

/* The socket takes no more. Returns BB_AGAIN, or BB_EGONE if the client is too slow. sent: bytes that the
 * socket has just taken. */
static int check_client(struct bb_stream *stream, uint64_t sent)
{
    uint64_t now = bb__clock_ms(), limit = stream->worker->settings.write_timeout;
    if (stream->wait.since == 0) {
        stream->wait.since = now;
        stream->wait.taken = 0;
        note_taking(stream, now);
        return BB_AGAIN;
    }
    stream->wait.taken += sent;
    if (sent > 0 || bb__sock_untaken(stream->fd) < stream->wait.untaken)
        note_taking(stream, now);
    else if (limit > 0 && bb__elapsed(now, stream->wait.progress) >= limit)
        return BB_EGONE;
    return is_too_slow(stream, now) ? BB_EGONE : BB_AGAIN;
}

static int flush(struct bb_stream *stream)
{
    uint64_t total = 0;
    while (bb__buf_len(&stream->out) > 0) {
        size_t sent;
        int code = bb__sock_send(stream->fd, bb__buf_bytes(&stream->out), bb__buf_len(&stream->out), &sent);
        if (code == BB_AGAIN) return check_client(stream, total);
        if (code != BB_OK) return code;
        bb__buf_consume(&stream->out, sent);
        total += sent;
    }
    stream->wait.since = 0;
    if (stream->out.cap > SLICE_MAX) bb__buf_free(&stream->out);
    /* The client must see the end at once, although the lane may still have a descriptor of the socket. */
    if (stream->ended && !stream->encoder.keep_alive) bb__sock_end_sending(stream->fd);
    return BB_OK;
}

/* Frames one slice of a part. *used: bytes of the part that are framed or dropped. */
static int frame(struct bb_stream *stream, const char *at, size_t len, size_t *used)
{
    char chunk_head[BB_CHUNK_HEAD_MAX];
    struct bb_slice spans[BB_PART_SPANS];
    unsigned count =
        bb__h1_reply_part(&stream->encoder, at, len < SLICE_MAX ? len : SLICE_MAX, chunk_head, spans, used);
    if (count == 0 && *used == 0) return BB_ECHUNKS;
    for (unsigned i = 0; i < count; i++)
        if (bb__buf_append(&stream->out, spans[i].at, spans[i].len) != BB_OK) return BB_ENOMEM;
    return BB_OK;
}

static int add_end(struct bb_stream *stream)
{
    struct bb_slice last;
    stream->ended = true;
    int code = bb__h1_reply_end(&stream->encoder, &last);
    if (code != BB_OK) return code;
    return last.len > 0 ? bb__buf_append(&stream->out, last.at, last.len) : BB_OK;
}

static int write_parts(struct bb_stream *stream, const struct bb_slice *parts, size_t count, uint64_t *taken)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t offset = 0, used; offset < parts[i].len; offset += used, *taken += used) {
            if (bb__buf_len(&stream->out) >= SLICE_MAX) {
                int code = flush(stream);
                if (code != BB_OK) return code;
            }
            int code = frame(stream, parts[i].at + offset, parts[i].len - offset, &used);
            if (code != BB_OK) return code;
        }
    }
    return BB_OK;
}

static bool has_bytes(const struct bb_slice *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (parts[i].len > 0) return true;
    return false;
}

int bb_stream_write(struct bb_stream *stream, const struct bb_slice *parts, size_t count, bool last,
                    uint64_t *taken)
{
    *taken = 0;
    if (is_over(stream)) return BB_EGONE;
    if (stream->failed != BB_OK) return stream->failed;
    if (stream->ended && has_bytes(parts, count)) return BB_EGONE; /* they would be the next response */
    bool waits = stream->wait.since > 0;
    int code = waits ? flush(stream) : BB_OK;
    if (code == BB_OK) code = write_parts(stream, parts, count, taken);
    if (code == BB_OK && last && !stream->ended) code = add_end(stream);
    if (code == BB_OK) code = flush(stream);
    if (code < 0) stream->failed = code;
    stream->body_length += *taken;
    return code;
}

/* ---- reading ---- */

/* The client may wait for a "100 Continue" that is still in `out`. */
static int read_body(struct bb_stream *stream, char *bytes, size_t len, size_t *got)
{
    bool flushes = stream->failed == BB_OK && bb__buf_len(&stream->out) > 0;
    int code = flushes ? flush(stream) : BB_OK;
    if (code < 0) return stream->failed = code;
    return bb__unbuffered_read(stream->body, stream->fd, &stream->worker->settings, bytes, len, got);
}

int bb_stream_read(struct bb_stream *stream, char *bytes, size_t len, size_t *got)
{
    size_t here = bb__buf_len(&stream->unread);
    *got = 0;
    if (is_over(stream)) return BB_EGONE;
    if (stream->body) return read_body(stream, bytes, len, got);
    if (!stream->is_upgrade) return BB_EOF;
    if (here == 0) return bb__sock_recv(stream->fd, bytes, len, got);
    *got = here < len ? here : len;
    memcpy(bytes, bb__buf_bytes(&stream->unread), *got);
    bb__buf_consume(&stream->unread, *got);
    if (bb__buf_len(&stream->unread) == 0) bb__buf_free(&stream->unread);
    return BB_OK;
}

void bb_stream_wait(struct bb_stream *stream, enum bb_stream_event event)
{
    struct pollfd watched = {.fd = stream->fd, .events = event == BB_STREAM_READABLE ? POLLIN : POLLOUT};
    if (!is_over(stream)) (void)poll(&watched, 1, WAIT_MAX);
}

bool bb_stream_client_gone(const struct bb_stream *stream)
{
    if (is_over(stream) || stream->failed == BB_EGONE) return true;
    if (bb__sock_client_gone(stream->fd, !stream->is_upgrade)) return true;
    return stream->is_upgrade && bb__buf_len(&stream->unread) == 0 && bb__sock_is_at_end(stream->fd);
}

/* ---- the end ---- */

/* Sends the connection to the shared queue, as an idle connection. False: nobody will serve it. */
static bool pass_on(const struct bb_stream *stream)
{
    if (!stream->encoder.keep_alive || bb__worker_is_last(stream->worker)) return false;
    struct bb__conn conn = {.fd = stream->fd,
                            .state = BB_CONN_HEAD,
                            .tcp = stream->tcp,
                            .listener = stream->listener,
                            .served = stream->served,
                            .in = stream->body ? stream->body->rest : stream->unread};
    bb__spool_start(&conn.spool);
    conn.peer = stream->peer;
    const struct bb_worker *worker = stream->worker;
    if (bb__conn_transfer(&conn, worker->listen.addresses, &worker->shared.queue) != BB_OK) return false;
    bb__count(&worker->metrics.counts, BB_COUNT_PASSED_ON, 1);
    return true;
}

/* Returns whether the client may send more bytes. */
static bool drop_input(int fd)
{
    char dropped[4096];
    size_t got;
    int code = BB_OK;
    for (int reads = 0; reads < DROPS_MAX && code == BB_OK; reads++)
        code = bb__sock_recv(fd, dropped, sizeof dropped, &got);
    return code == BB_OK || code == BB_AGAIN;
}

/* Bytes that nobody reads, and bytes that come after a close, would reset the connection. The client could
 * lose the end of the response. So a lane reads them, and closes the connection later. */
static void close_or_linger(const struct bb_stream *stream)
{
    bb__sock_end_sending(stream->fd);
    if (!drop_input(stream->fd) ||
        !bb__worker_let_linger(stream->worker, stream->fd, stream->listener, &stream->peer))
        bb__sock_close(stream->fd);
}

static void end_socket(const struct bb_stream *stream)
{
    if (stream->fd < 0) return;
    if (bb__worker_is_inert(stream->worker)) {
        bb__sock_abandon(stream->fd);
    } else if (!bb__stream_is_complete(stream)) {
        bb__sock_reset(stream->fd);
    } else if (pass_on(stream)) {
        bb__sock_abandon(stream->fd);
    } else {
        close_or_linger(stream);
    }
}

static void count_bytes(const struct bb_stream *stream)
{
    const struct bb__counts *counts = &stream->worker->metrics.counts;
    if (bb__worker_is_inert(stream->worker)) return;
    if (stream->body && stream->body->given > 0) bb__count(counts, BB_COUNT_BYTES_IN, stream->body->given);
    uint64_t out = bb__reply_length(&stream->encoder, stream->body_length);
    if (out > stream->counted) bb__count(counts, BB_COUNT_BYTES_OUT, out - stream->counted);
}

void bb_stream_free(struct bb_stream *stream)
{
    if (!stream) return;
    count_bytes(stream);
    end_socket(stream);
    bb__buf_free(&stream->out);
    bb__buf_free(&stream->unread);
    bb__unbuffered_free(stream->body);
    free(stream);
}
