/* bontebok.h: the C interface of the core. A binding to another language includes only this header.
 *
 * "Host" means the binding and the program above it. The host calls the core, and the core never calls the
 * host. A binding creates one worker per process and one lane per host thread. A lane serves connections, one
 * request at a time: bb_lane_next() returns a complete request, the bb_reply_*() calls send the response, and
 * the thread calls bb_lane_next() again.
 *
 * Blocking: bb_worker_drain() and all calls with _wait in their names block. A host with a global lock
 * releases the lock around these calls only. Any other call may wait until the core's I/O thread has finished
 * its current step. The core keeps no pointer into host memory after a call has returned.
 * Threads: all lanes share the worker. Two threads must not make calls on the same lane, or on the worker, at
 * the same time, except calls marked "Any thread". Only bb_lane_wake() is allowed in a signal handler.
 * Units: sizes are bytes and times are milliseconds, unless another unit is given. */
#ifndef BONTEBOK_H
#define BONTEBOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bontebok_body.h"
#include "bontebok_file.h"
#include "bontebok_metrics.h"
#include "bontebok_public.h"
#include "bontebok_scoreboard.h"
#include "bontebok_settings.h"
#include "bontebok_stream.h"
#include "bontebok_time.h"
#include "bontebok_work.h"

/* ---- codes: a negative code is an error ---- */

#define BB_CODES(X)                                                                                          \
    X(BB_OK, 0, "done")                                                                                      \
    X(BB_AGAIN, 1, "not now: wait, then call again")                                                         \
    X(BB_EOF, 2, "the peer sends no more")                                                                   \
    X(BB_DRAINED, 3, "nothing is left to serve: the lane may end")                                           \
    X(BB_EVENT, 4, "something happened that the host should log")                                            \
    X(BB_ENOMEM, -1, "out of memory")                                                                        \
    X(BB_ESYSTEM, -2, "a system call failed; errno has the reason")                                          \
    X(BB_EGONE, -3, "the client has gone, or does not read")                                                 \
    X(BB_ENAME, -4, "a field name is no token (RFC 9110 5.1)")                                               \
    X(BB_EVALUE, -5, "a field value holds CR, LF, NUL or another control byte (RFC 9110 5.5)")               \
    X(BB_ESTATUS, -6, "a status outside 100..999")                                                           \
    X(BB_ESHORT, -7, "the body is shorter than its Content-Length")                                          \
    X(BB_ENOSPACE, -8, "the spool is full")                                                                  \
    X(BB_EFORMAT, -9, "a text in the settings is not well-formed")                                           \
    X(BB_EDISK, -10, "the disk of the spool is full or fails; errno has the reason")                         \
    X(BB_ELOST, -11, "a message of the shared queue is lost: no descriptor is free")                         \
    X(BB_EBODY, -12, "the request's body is malformed, too long, or comes too slowly")                       \
    X(BB_ELAYOUT, -13, "the shared memory is not a scoreboard of this version")                              \
    X(BB_ECHUNKS, -14, "Transfer-Encoding is chunked, but the body is not in chunks, or lacks the last chunk")

enum bb_code {
#define BB_CODE_ENUM(name, number, text) name = number,
    BB_CODES(BB_CODE_ENUM)
#undef BB_CODE_ENUM
};

/* Returns the static text of a code, or "unknown code". */
const char *bb_error_text(int code);

/* ---- the request ---- */

struct bb_slice {
    const char *at; /* not NUL-terminated; NULL: no value */
    size_t len;
};

/* Field names that the core knows, in any letter case. */
enum bb_field_kind {
    BB_FIELD_OTHER,
    BB_FIELD_HOST,
    BB_FIELD_CONTENT_LENGTH,
    BB_FIELD_CONTENT_TYPE,
    BB_FIELD_TRANSFER_ENCODING,
    BB_FIELD_CONNECTION,
    BB_FIELD_EXPECT,
    BB_FIELD_COOKIE,
    BB_FIELD_AUTHORIZATION,
    BB_FIELD_REQUEST_START,
    BB_FIELD_UPGRADE,
    BB_FIELD_PROXY,      /* always dropped, because its CGI name is HTTP_PROXY (httpoxy) */
    BB_FIELD_UNDERSCORE, /* X_A has the CGI name of X-A, so X_A is dropped unless allow_underscore_headers */
};

struct bb_field {
    const char *name;
    const char *value; /* without white space around the value */
    uint32_t value_len;
    uint16_t name_len;
    uint8_t id;   /* for the host's caches. 1..255: the lane's id of this name in any letter case; 0: no id */
    uint8_t kind; /* enum bb_field_kind */
};

/* The head of a request, RFC 9112 2.1. The pointers point into the connection's buffer. If a target in
 * absolute form has no path, `path` is a static "/". */
struct bb_head {
    struct bb_slice method;
    struct bb_slice target;    /* as the client sent it: REQUEST_URI */
    struct bb_slice path;      /* as the client sent it, not decoded; "*" only for OPTIONS */
    struct bb_slice query;     /* without the "?"; empty: no query */
    struct bb_slice authority; /* from a target in absolute form, else from Host; NULL: neither (HTTP/1.0) */
    struct bb_slice host;      /* part of the authority, with the brackets of an IPv6 literal */
    struct bb_slice port;      /* part of the authority, only digits; empty: no port */
    const struct bb_field *fields;
    unsigned field_count;
    uint64_t content_length; /* 0 unless has_length */
    uint8_t minor_version;   /* 0 or 1 */
    bool has_length;
    bool chunked;
    bool keep_alive;      /* the client wants to keep the connection */
    bool expect_continue; /* HTTP/1.1 only, RFC 9110 10.1.1 */
    bool repeats;         /* true: perhaps two fields have the same CGI name; false: all CGI names differ */
    bool has_start;       /* the field X-Request-Start is present */
    bool upgrade;         /* the client offers other protocols: Upgrade, RFC 9110 7.8 */
};

/* A request, head and body, valid until bb_reply_end() or bb_reply_abort(). The core owns it. */
struct bb_request {
    struct bb_head head;
    bool unbuffered;      /* the body is not here: see bb_request_read(). body_length is 0 */
    uint64_t body_length; /* bytes, decoded */
    const char *body;     /* the body if it is in memory; else NULL */
    int body_fd;          /* the body if it is in a file, see below; else -1 */
    struct bb_slice peer; /* the client's address: "192.0.2.1", "2001:db8::1"; unix socket: "127.0.0.1" */
    uint16_t peer_port; /* the client's port; 0: unix socket, or a process of an older version has sent it */
    bool peer_is_unix;
    unsigned listener;   /* the number passed to bb_worker_listen() */
    uint64_t queue_time; /* us, see below */
    uint64_t proxy_time; /* us, see below */
};

/* body_fd: the body begins at offset 0 of the file. The host may duplicate the descriptor, move its offset,
 * and keep the duplicate after the request. A kept file does not count for spool_max.
 *
 * queue_time: how long the request has waited for a lane, by this machine's clock. The wait begins when the
 * core reads the last byte of the request (of the head, if the body is unbuffered). If the first read on a
 * new connection gets all of it, the wait begins with the accept. For a pipelined request it begins with the
 * end of the previous response. Over TCP the time in the listener's queue is added if it is at least 5 ms. If
 * the lane is busy, the I/O thread reads the request some ms late, and the wait begins then. A wait below the
 * kernel's tick (1 to 4 ms) is 0, unless the access log needs an exact clock (%D). proxy_time: time since a
 * proxy received the request, by the proxy's clock (X-Request-Start); 0 if the client is not one of
 * trusted_proxies, or if that time is in the future or older than an hour. */

/* ---- worker: what all lanes of a process share ---- */

struct bb_worker;

/* Creates the worker of this process, with a copy of *settings. The caller owns *worker and frees it with
 * bb_worker_free(). Call this after the last fork(). In a child of a later fork(), calls on the worker and
 * its lanes have no effect: bb_worker_listen(), bb_worker_share_queue(), bb_lane_new() and bb_lane_next()
 * return BB_DRAINED; bb_reply_begin(), bb_reply_write(), bb_reply_wait() and bb_reply_end() return BB_EGONE.
 * If the access log cannot be opened, the worker reports an event and opens the log later. Errors: BB_ENOMEM;
 * BB_ESYSTEM; BB_EFORMAT: server_name, trusted_proxies, access_log or access_log_format is wrong. */
int bb_worker_new(struct bb_worker **worker, const struct bb_settings *settings);

/* Adds a listening stream socket. Call this before the first bb_lane_new() and before bb_worker_drain().
 * listener: a number from 0 to 63, for bb_request.listener. On BB_OK the worker owns fd, makes it
 * non-blocking and close-on-exec, and closes it when the worker drains or is freed. Otherwise the caller
 * still owns fd. Errors: BB_ENOMEM (a 65th listener, or a number above 63), BB_ESYSTEM. */
int bb_worker_listen(struct bb_worker *worker, int fd, unsigned listener);

/* Shows the worker's lanes on a scoreboard. With a scoreboard, busy lanes pass requests to idle lanes of
 * other processes. The caller owns the scoreboard and frees it after the worker's lanes. Call this before
 * bb_worker_start_io_thread() and the first bb_lane_new(). */
void bb_worker_scoreboard(struct bb_worker *worker, struct bb_scoreboard *scoreboard);

/* Shares a queue of connections with workers of other processes that listen on the same addresses. Workers
 * send connections to `in` and receive them from `out`, the ends of a SOCK_SEQPACKET pair. On BB_OK the
 * worker owns both ends, otherwise the caller still owns them. Without this call the worker has a queue of
 * its own. Call this before the first bb_lane_new(). A worker that does not have a connection's listener
 * sends the connection back to the queue. The fourth such worker answers the request with 503, or closes a
 * connection without a request. Errors: BB_ESYSTEM, also for sockets that are not SOCK_SEQPACKET. */
int bb_worker_share_queue(struct bb_worker *worker, int in, int out);

/* Starts the I/O thread, which blocks all signals. If the host works on a request for over a millisecond, the
 * I/O thread reads, writes and applies timeouts for the lane's other connections, and passes complete
 * requests to idle lanes. Call this before the first bb_lane_new(). Errors: BB_ENOMEM, BB_ESYSTEM. */
int bb_worker_start_io_thread(struct bb_worker *worker);

/* request_timeout needs the I/O thread. If the host still works on a request after request_timeout, the
 * client gets 504. If a part of the response was sent before, the connection is closed. If the whole response
 * was sent, the connection stays open. After the timeout, bb_reply_write() returns BB_EGONE. An event reports
 * the timeout, and the descriptor of bb_worker_alarm() (bontebok_time.h) becomes readable. Time in
 * bb_reply_wait() does not count. If the process is frozen (SIGSTOP), at most about a second counts. */

/* max_queue and queue_timeout need the I/O thread and a scoreboard. While all lanes of all processes are
 * busy, the I/O thread accepts new connections, and complete requests wait in the shared queue. If max_queue
 * requests wait, the next request is rejected with 503 and Retry-After. A request that has waited as long as
 * queue_timeout gets the same response, at most about 10 ms late. The connection then stays open if the core
 * has read the whole request. Requests for health_paths are never rejected. Events report the rejections. */

struct bb_event;
/* Like bb_lane_event(), for events of the I/O thread. Also works while all lanes are busy. Any thread. */
int bb_worker_event(struct bb_worker *worker, struct bb_event *event);

/* The treatment of connections in the listeners' queues at a graceful shutdown (drain). */
enum bb_queue {
    BB_QUEUE_TAKE,  /* accept and answer all; if several processes share a listener, each accepts some */
    BB_QUEUE_LEAVE, /* leave the connections to other processes. But accept up to one per idle lane, because
                       a connection that has already woken a lane wakes no other process */
};

/* Begins the graceful shutdown. The listeners are closed when this call returns, even if all lanes are busy.
 * If descriptors or memory run out at BB_QUEUE_TAKE, a lane or bb_worker_free() closes the listeners later.
 * BB_QUEUE_TAKE blocks until the queues are empty: it accepts a few connections per millisecond, and after
 * 200 ms the rest at once. Later clients are refused. After BB_QUEUE_TAKE, or if there are no other workers,
 * responses have "Connection: close". Otherwise other workers take over open connections between two
 * requests. If the listeners are closed already, this call changes only the mode (`queue`). Any thread. */
void bb_worker_drain(struct bb_worker *worker, enum bb_queue queue);

/* Opens the access log's file again by name. Call this after the file was renamed. If standard output or
 * error was a file and is another file now (after dup2()), lines go to the new file. Other targets stay open.
 * Any thread. Returns BB_OK; BB_ESYSTEM: the old file stays in use. */
int bb_worker_reopen_logs(struct bb_worker *worker);

/* Frees the worker and closes its listeners. Free all lanes first. NULL is allowed. Returns BB_OK; BB_AGAIN:
 * a stalled disk blocks the I/O thread for over a second: nothing is freed, and the process has to exit. */
int bb_worker_free(struct bb_worker *worker);

/* ---- lane: one host thread, one request at a time ---- */

struct bb_lane;

/* Creates a lane. The caller owns *lane and frees it with bb_lane_free(). Errors: BB_ENOMEM, BB_ESYSTEM. */
int bb_lane_new(struct bb_lane **lane, struct bb_worker *worker);

/* Returns the next complete request in *request. Never blocks. The host must end a request before it asks for
 * the next one. Returns BB_OK; BB_AGAIN: no request, call bb_lane_wait(); BB_EVENT: call bb_lane_event(),
 * then this function again; BB_DRAINED: the worker drains, and this lane has nothing left to serve. */
int bb_lane_next(struct bb_lane *lane, const struct bb_request **request);

/* Blocks until there is something to do, a timeout is due or bb_lane_wake() is called. Returns BB_OK. */
int bb_lane_wait(struct bb_lane *lane);

/* A host with a global lock calls this after each request. others_have_requests: whether the host works on
 * requests of other lanes. Returns true if other lanes have waited for the lock for a millisecond. The host
 * then lets its other threads run before it calls bb_lane_next(). Without this call a thread may keep the
 * lock for much longer (Ruby: 100 ms), and requests of other lanes wait. */
bool bb_lane_gives_way(struct bb_lane *lane, bool others_have_requests);

/* Ends the current bb_lane_wait() or bb_reply_wait() of the lane. If the lane does not wait now, its next
 * wait ends at once. Any thread, also in a signal handler. */
void bb_lane_wake(struct bb_lane *lane);

/* ---- events ---- */

/* An event that the host should log. */
struct bb_event {
    int status;        /* of the core's response; 499: the client has closed the connection; 0: no response */
    int error;         /* errno, or 0 */
    bool by_client;    /* the client's mistake or decision; false: a problem of the server */
    const char *text;  /* static */
    char peer[48];     /* the client's address, or "" */
    unsigned left_out; /* unreported events of this kind since the last report. Clients can cause some events
                          at will: at most one report per second of a worker (rejections) or of a thread */
};

/* Takes the oldest event: *event is the caller's copy. Returns BB_OK; BB_AGAIN: there is none. */
int bb_lane_event(struct bb_lane *lane, struct bb_event *event);

/* Aborts the request, closes the connections and frees the lane. NULL is allowed. See bb_worker_free(). */
void bb_lane_free(struct bb_lane *lane);

/* ---- reply: the response to the lane's current request ---- */

/* Begins a response: begin, field*, head, (write | wait)*, end. Until bb_reply_sent() is true, another call
 * discards the head. Errors: BB_ESTATUS; BB_ENOMEM; BB_EGONE: no request, or bytes were sent already. */
int bb_reply_begin(struct bb_lane *lane, int status);

/* Adds a field. Copies name and value. "Connection: close" is obeyed, and Upgrade is sent with 101 and 426.
 * Other hop-by-hop fields (RFC 9110 7.6.1) are dropped. Without a value, these fields, Content-Length,
 * Transfer-Encoding, Date and Server count as absent. Errors, which leave the head as it was: BB_ENAME;
 * BB_EVALUE; BB_ENOMEM. BB_EVALUE also means that a Content-Length is no number or differs from an earlier
 * one, or that a transfer coding is unknown or comes twice. */
int bb_reply_field(struct bb_lane *lane, const char *name, size_t name_len, const char *value,
                   size_t value_len);

/* Sends an interim response (103, RFC 8297) after bb_reply_begin() and its fields; another bb_reply_begin()
 * follows. Fields without a value are left out. Sends nothing to an HTTP/1.0 client, to a slow client, and if
 * no field is left. Errors: BB_ENOMEM; BB_EGONE. */
int bb_reply_interim(struct bb_lane *lane);

#define BB_LENGTH_UNKNOWN UINT64_MAX
#define BB_LENGTH_RAW     (UINT64_MAX - 1)

/* True: a Content-Length field was added. Valid until bb_reply_head(). */
bool bb_reply_has_length(const struct bb_lane *lane);

/* Ends the head and chooses the framing (RFC 9112 6). Sends nothing. body_length: the whole body's length,
 * used if there was no Content-Length field. BB_LENGTH_UNKNOWN: the core chunks the body, or closes the
 * connection after it. BB_LENGTH_RAW: the core does not chunk the body, because the host writes it after
 * bb_lane_hijack(). After a 101 with Upgrade, the body is the other protocol. Errors: BB_ENOMEM. */
int bb_reply_head(struct bb_lane *lane, uint64_t body_length);

/* True: the response has no body (HEAD, 1xx but no upgrade, 204, 205, 304). Valid after bb_reply_head(). */
bool bb_reply_bodyless(const struct bb_lane *lane);

/* True: bytes of this response may have reached the client. */
bool bb_reply_sent(const struct bb_lane *lane);

/* Sends parts of the body, after the head. A small part that follows the previous one within a millisecond
 * is sent with the next parts, or by the I/O thread within about 2 ms; a call without parts sends it at once.
 * Bytes that the socket does not accept are copied to memory, up to response_buffer per connection and 64
 * times response_buffer per worker. If this memory is full, the bytes go to a file in spool_dir. After a call
 * with parts that are not the last, the I/O thread sends these bytes as soon as the client takes them. last:
 * these parts end the body; a chunked body's last chunk is in the same send. If there are no parts and `last`
 * is false, sends the head or pending bytes. *taken: bytes of the parts that were sent or copied, counted
 * from the first part. Returns BB_OK: all bytes were taken. BB_AGAIN: the client may be slow, spool_max is
 * reached, or the disk is full. After BB_AGAIN call bb_reply_wait(), then this function again with the same
 * `last` and the bytes that were not taken (perhaps none). After an error call bb_reply_abort(). Errors:
 * BB_ENOMEM; BB_EGONE: the client is gone or has taken nothing for write_timeout, or the request is past
 * request_timeout; BB_ECHUNKS: the application has set Transfer-Encoding, and the parts are no chunks. */
int bb_reply_write(struct bb_lane *lane, const struct bb_slice *parts, size_t count, bool last,
                   uint64_t *taken);

/* Blocks for a millisecond or two, so that a fast client can take the unsent bytes. If the client is slow,
 * and neither memory nor spool has room, blocks until there is room. Returns BB_OK; BB_AGAIN: bb_lane_wake()
 * or the I/O thread has ended the wait. In both cases call bb_reply_write() again. BB_EGONE: the client has
 * reset the connection, has taken nothing for write_timeout (or for keepalive_drain, if the worker drains),
 * or takes less than min_body_rate after its first 64 KiB. BB_EGONE also means that other requests wait, more
 * than half of all lanes wait for clients, and this client is one of the slowest. */
int bb_reply_wait(struct bb_lane *lane);

/* Called instead of bb_reply_wait() by a thread of the host that waits outside of the core, because the
 * lane's own thread may use the lane meanwhile. Does not block. Returns BB_OK: call bb_reply_write() again;
 * BB_AGAIN: neither memory nor spool has room, so first wait until the socket (bb_request_fd()) takes bytes;
 * BB_EGONE: as for bb_reply_wait(). */
int bb_reply_spool(struct bb_lane *lane);

/* Call this if the next call for this response may come late: the host works on after the last part, or no
 * thread waits any more after BB_AGAIN. The I/O thread then sends the unsent bytes meanwhile, except those of
 * bb_reply_file(). Does not block. */
void bb_reply_pause(struct bb_lane *lane);

/* Ends the response and the request. The core sends unsent bytes when the client can take them. Returns
 * BB_OK. On an error the connection is aborted, so that the client sees that the response is incomplete.
 * BB_ESHORT: the body is shorter than its Content-Length; BB_ECHUNKS: the last chunk of the application is
 * missing; else as for bb_reply_write(). */
int bb_reply_end(struct bb_lane *lane);

/* Ends the request without a whole response: resets the connection, or closes it after the core's 504. */
void bb_reply_abort(struct bb_lane *lane);

#endif
