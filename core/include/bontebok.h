/* bontebok.h: the core's interface for a binding to a host language. A binding includes this header alone.
 *
 * The host calls the core, and the core never calls the host. A binding creates one worker per process and
 * one lane per host thread. Each thread then loops: bb_lane_next() returns a complete request, and the
 * bb_reply_*() calls send the response.
 *
 * Blocking: bb_lane_wait(), bb_reply_wait() and bb_worker_drain() block. A host with a global lock releases
 * the lock around these calls and around no others. Any other call may wait until the I/O thread has finished
 * its current step. The core keeps no pointer into host memory after a call has returned.
 * Threads: threads may share a worker. A lane and its current request belong to the thread that serves the
 * lane. A call that is allowed from any thread says so. Only bb_lane_wake() is allowed in a signal handler.
 * Units: sizes are bytes, times are milliseconds. For a setting that is a limit, 0 means "no limit". */
#ifndef BONTEBOK_H
#define BONTEBOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bontebok_scoreboard.h"
#include "bontebok_time.h"

/* ---- codes: 0 is done, a positive code is no failure, a negative code is a failure ---- */

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
    X(BB_EVALUE, -5, "a field value holds CR, NUL or another control byte (RFC 9110 5.5)")                   \
    X(BB_ESTATUS, -6, "a status outside 100..999")                                                           \
    X(BB_ESHORT, -7, "the body is shorter than the Content-Length that was announced")                       \
    X(BB_ENOSPACE, -8, "the spool is full")                                                                  \
    X(BB_EFORMAT, -9, "a text in the settings is not well-formed")                                           \
    X(BB_EDISK, -10, "the disk of the spool is full or fails; errno has the reason")                         \
    X(BB_ELOST, -11, "a message is lost: no descriptor is free")

enum bb_code {
#define BB_CODE_ENUM(name, number, text) name = number,
    BB_CODES(BB_CODE_ENUM)
#undef BB_CODE_ENUM
};

/* Returns the static text of a code, or "unknown code". */
const char *bb_error_text(int code);

/* ---- the request ---- */

struct bb_slice {
    const char *at; /* not NUL-terminated; NULL: there is none */
    size_t len;
};

/* The fields that the core knows. The host uses the kind to map names. The core has checked the values. */
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
    BB_FIELD_PROXY,      /* never handed out: CGI would turn it into HTTP_PROXY */
    BB_FIELD_UNDERSCORE, /* never handed out unless allow_underscore_headers: X_A and X-A are one CGI name */
};

struct bb_field {
    const char *name;
    const char *value; /* without white space around it */
    uint32_t value_len;
    uint16_t name_len;
    uint8_t id;   /* 1..255: the lane's number for this name, in any letter case; 0: it has none */
    uint8_t kind; /* enum bb_field_kind */
};

/* The head of a request, RFC 9112 2.1. The pointers lead into the connection's buffer. The path of an
 * absolute form without a path is a static "/". */
struct bb_head {
    struct bb_slice method;
    struct bb_slice target;    /* as the client sent it: REQUEST_URI */
    struct bb_slice path;      /* as the client sent it, not decoded; "*" only for OPTIONS */
    struct bb_slice query;     /* without the "?"; empty when there is none */
    struct bb_slice authority; /* of the absolute form, else of Host; NULL: neither (HTTP/1.0) */
    struct bb_slice host;      /* of the authority, with the brackets of an IPv6 literal */
    struct bb_slice port;      /* of the authority: digits; empty: there is no port */
    const struct bb_field *fields;
    unsigned field_count;
    uint64_t content_length; /* 0 unless has_length */
    uint8_t minor_version;   /* 0 or 1 */
    bool has_length;
    bool chunked;
    bool keep_alive;      /* what the client wants, by version and Connection */
    bool expect_continue; /* HTTP/1.1 only, RFC 9110 10.1.1 */
    bool repeats;         /* two or more fields may have the same CGI name */
    bool has_start;       /* there is an X-Request-Start */
};

/* A complete request: head and body are here. The core owns it, until bb_reply_end() or bb_reply_abort(). */
struct bb_request {
    struct bb_head head;
    uint64_t body_length; /* bytes, decoded */
    const char *body;     /* the body if it is in memory; else NULL */
    int body_fd;          /* the body if it is in a file: read it with pread() from offset 0; else -1 */
    struct bb_slice peer; /* the client's address: "192.0.2.1", "2001:db8::1"; of a unix socket "127.0.0.1" */
    unsigned listener;    /* the number that bb_worker_listen() was given */
    uint64_t queue_time;  /* us, see below */
    uint64_t proxy_time;  /* us, see below */
};

/* queue_time: how long the request has waited for a lane, by this machine's clock. The time begins when the
 * core reads the last byte of the request. If a new connection brings a whole request, the time begins with
 * the accept. For a pipelined request it begins with the end of the previous response. Over TCP the time in
 * the listener's queue is included if it is at least 5 ms; for a unix socket the kernel does not report that
 * time. The milliseconds until the I/O thread looks at the sockets of a busy lane are not included. A time
 * below the kernel's tick (1 to 4 ms) is 0, unless the access log's format needs an exact clock (%D).
 * proxy_time: how long the request has waited since a proxy received it, by the proxy's clock, from
 * X-Request-Start. It is 0 if the field does not come from one of trusted_proxies, is in the future or is
 * older than an hour. No limit uses proxy_time. */

/* ---- settings ---- */

#define BB_TRUSTED_PROXIES_MAX   6144
#define BB_ACCESS_LOG_MAX        256
#define BB_ACCESS_LOG_FORMAT_MAX 1024

/* The name and the default of each setting. docs/CONFIGURATION.md explains each under the name of its option:
 * max_target is MaxTarget. Switches are 0 or 1. The texts in struct bb_settings are NUL-terminated. */
#define BB_SETTINGS(X)                                                                                       \
    X(max_target, 16 * 1024)                                                                                 \
    X(max_field_bytes, 64 * 1024)                                                                            \
    X(max_fields, 128)                                                                                       \
    X(max_body, 0)                                                                                           \
    X(allow_underscore_headers, 0)                                                                           \
    X(header_timeout, 30 * 1000)                                                                             \
    X(body_timeout, 60 * 1000)                                                                               \
    X(min_body_rate, 500)                                                                                    \
    X(write_timeout, 60 * 1000)                                                                              \
    X(keepalive_timeout, 75 * 1000)                                                                          \
    X(keepalive_drain, 2 * 1000)                                                                             \
    X(graceful_timeout, 30 * 1000)                                                                           \
    X(max_keepalive_requests, 0)                                                                             \
    X(max_connections, 0)                                                                                    \
    X(spool_threshold, 1024 * 1024)                                                                          \
    X(spool_max, 1024 * 1024 * 1024)                                                                         \
    X(response_buffer, 1024 * 1024)                                                                          \
    X(request_timeout, 0)                                                                                    \
    X(request_timeout_soft, 0)                                                                               \
    X(worker_timeout, 0)                                                                                     \
    X(check_client_connection, 0)                                                                            \
    X(queue_timeout, 0)                                                                                      \
    X(max_queue, 0)                                                                                          \
    X(chunked_transfer, 1)                                                                                   \
    X(spread, 1)

struct bb_settings {
#define BB_SETTING_FIELD(name, default_value) uint64_t name;
    BB_SETTINGS(BB_SETTING_FIELD)
#undef BB_SETTING_FIELD
    char spool_dir[256];                          /* the directory of spool files */
    char server_name[64];                         /* the value of the Server field; empty: no such field */
    char trusted_proxies[BB_TRUSTED_PROXIES_MAX]; /* proxies: "unix", addresses, networks (10.0.0.0/8);
                                                     128 at most, with spaces between them */
    char access_log[BB_ACCESS_LOG_MAX];           /* the target, see below; empty: no access log */
    char access_log_format[BB_ACCESS_LOG_FORMAT_MAX]; /* see below */
    char health_paths[256]; /* paths with spaces between them, see max_queue below */
};

/* Fills *settings with the defaults above, spool_dir "/tmp", trusted_proxies "unix 127.0.0.0/8 ::1" and
 * access_log_format "combined". The other texts are empty. */
void bb_settings_init(struct bb_settings *settings);

/* ---- access log ---- */

/* The access log has a line for each request that was answered, by the host or by the core, or aborted. A
 * lane collects lines. It writes them when no request has come for 20 ms, after a request that took at least
 * 20 ms, when the first line is a second old, or when memory for lines is full. It writes none while the host
 * works on a request. Lines that the target does not take stay in memory. Lines for which there is no memory
 * are lost, and an event reports how many. A lane never waits for a pipe or a socket. access_log:
 *
 *     /path            a file or FIFO: opened to append, created if it is missing. A FIFO may lack a reader
 *     -                standard output; /dev/stdout and /dev/stderr are standard output and standard error
 *     syslog:KEY=VALUE,...     datagrams (RFC 3164). The default is socket=/dev/log, facility=local7,
 *                              severity=info, tag=bontebok
 *
 * access_log_format is a name (common, combined, ltsv, json) or a format in Apache's notation, see
 * docs/LOGS.md. A host that logs to a pipe has to ignore SIGPIPE. */

/* The size of a buffer for the reason why a setting is wrong; the reason is NUL-terminated. */
#define BB_FAULT_MAX 160

/* Checks the access log of these settings: compiles the format, opens the target and closes it. Returns
 * BB_OK; BB_EFORMAT: access_log or access_log_format is wrong, and fault has the reason; BB_ESYSTEM: the
 * target cannot be opened, and errno has the reason. */
int bb_access_log_check(const struct bb_settings *settings, char fault[BB_FAULT_MAX]);

/* ---- worker: what all lanes of a process share ---- */

struct bb_worker;

/* Creates the worker of this process, with a copy of *settings. The caller owns *worker and frees it with
 * bb_worker_free(). Call this after the last fork(): in a child that is forked later, calls on the worker and
 * its lanes do nothing, bb_lane_next() returns BB_DRAINED and reply calls return BB_EGONE. If the access log
 * cannot be opened, the worker reports an event and tries again later. Errors: BB_ENOMEM; BB_ESYSTEM;
 * BB_EFORMAT: trusted_proxies, access_log or access_log_format is wrong. */
int bb_worker_new(struct bb_worker **worker, const struct bb_settings *settings);

/* Adds a listening stream socket. Call this before the first bb_lane_new() and before bb_worker_drain().
 * listener: a number from 0 to 63, for bb_request.listener. The worker owns fd from now on, makes it
 * non-blocking and close-on-exec, and closes it when the worker drains or is freed. On an error the caller
 * still owns fd: BB_ENOMEM (a 65th listener, or a number above 63), BB_ESYSTEM. */
int bb_worker_listen(struct bb_worker *worker, int fd, unsigned listener);

/* Shows the worker's lanes on a scoreboard. If other processes have idle lanes, busy lanes pass requests to
 * them. The caller owns the scoreboard and frees it after the worker's lanes. Call this before
 * bb_worker_start_io_thread() and the first bb_lane_new(). */
void bb_worker_scoreboard(struct bb_worker *worker, struct bb_scoreboard *scoreboard);

/* Shares a queue of connections with workers that listen on the same addresses in other processes. `in` and
 * `out` are the ends of a SOCK_SEQPACKET pair: connections are sent to `in` and received from `out`. The
 * worker owns both from now on. Without this call the worker has a queue of its own. Call it before the first
 * bb_lane_new(). A worker that does not have a connection's listener sends the connection back to the queue.
 * After three returns a request gets 503, and an idle connection is closed. On an error the caller still owns
 * both: BB_ESYSTEM, also if `in` and `out` are no such pair. */
int bb_worker_share_queue(struct bb_worker *worker, int in, int out);

/* Starts the I/O thread, which blocks all signals. When the host keeps a request for over a millisecond, this
 * thread reads, writes and enforces timeouts for the lane's other connections, and passes complete requests
 * to idle lanes. Call this before the first bb_lane_new(). Errors: BB_ENOMEM, BB_ESYSTEM. */
int bb_worker_start_io_thread(struct bb_worker *worker);

/* request_timeout needs the I/O thread. When the host has kept a request for that long, the client gets 504.
 * If a part of the response has been sent, the connection is closed. If all of it has been sent, the
 * connection stays open. Later writes of the host are discarded (BB_EGONE). An event reports the timeout.
 * The descriptor of bb_worker_alarm() (bontebok_time.h) becomes readable: only the host can end its
 * thread. The time in bb_reply_wait() does not count. If the process is suspended, at most about a second
 * of that time counts. */

/* max_queue and queue_timeout need the I/O thread and a scoreboard. While all lanes of all processes are
 * busy, complete requests wait in the shared queue, and the I/O thread accepts new connections. If max_queue
 * requests wait, the next one is rejected with 503 and Retry-After. A request that has waited for
 * queue_timeout is rejected in the same way, at most about 10 ms late. The connection is kept alive if the
 * whole request has come. Requests for health_paths are never rejected. Events report the rejections. */

struct bb_event;

/* As bb_lane_event(), for events of the I/O thread while all lanes are busy. Any thread. */
int bb_worker_event(struct bb_worker *worker, struct bb_event *event);

/* How a worker that drains treats the connections in its listeners' queues. */
enum bb_queue {
    BB_QUEUE_TAKE,  /* accept and answer them; if processes share the listeners, each accepts some */
    BB_QUEUE_LEAVE, /* leave them to other processes, which still listen. The worker accepts one for each of
                       its idle lanes, because the kernel may have woken that lane and nobody else */
};

/* Begins the graceful end. The listeners are closed when this call returns, even if all lanes are busy. If
 * BB_QUEUE_TAKE lacks descriptors or memory to accept all queued connections, a lane closes the listeners
 * later, or bb_worker_free() does. Requests in flight are answered with "Connection: close". Each lane then
 * ends with BB_DRAINED. BB_QUEUE_TAKE blocks for some milliseconds, until the queues are empty. If new
 * clients keep filling the queues for 200 ms, the call accepts all connections queued then; later clients
 * are refused. Any thread, no signal handler. If the listeners are closed, only `queue` changes. */
void bb_worker_drain(struct bb_worker *worker, enum bb_queue queue);

/* Opens the access log's file again by its name, after the file was renamed. A log on standard output or
 * error goes to the file to which that descriptor refers now. Other targets stay open. Any thread, but no
 * signal handler. Returns BB_OK; BB_ESYSTEM: the old file stays in use. */
int bb_worker_reopen_logs(struct bb_worker *worker);

/* Frees the worker and closes its listeners. Free all lanes first. NULL is allowed. If the I/O thread does
 * not stop within a second, because a disk stalls, nothing is freed: the process has to end. */
void bb_worker_free(struct bb_worker *worker);

/* ---- lane: one host thread, one request at a time ---- */

struct bb_lane;

/* Creates a lane. The caller owns *lane and frees it with bb_lane_free(). Returns BB_OK, BB_ENOMEM,
 * BB_ESYSTEM; BB_DRAINED: this is a forked child. */
int bb_lane_new(struct bb_lane **lane, struct bb_worker *worker);

/* Gives the next complete request. Never blocks. The host has to end each request before the next call.
 * Returns BB_OK with *request; BB_AGAIN: there is none, call bb_lane_wait(); BB_EVENT: call bb_lane_event(),
 * then this function again; BB_DRAINED: the worker drains, and this lane has nothing left. */
int bb_lane_next(struct bb_lane *lane, const struct bb_request **request);

/* Blocks until there is something to do, a timeout is due or bb_lane_wake() is called. Returns BB_OK. */
int bb_lane_wait(struct bb_lane *lane);

/* A host with a global lock calls this after each request. others_have_requests: the host works on requests
 * of other lanes. True: other lanes have needed the lock for a millisecond, as they have requests or were
 * woken. The host then lets its other threads run before it calls bb_lane_next(). Without this call a host
 * may keep its lock for far longer (Ruby: 100 ms), and the other lanes' requests wait. */
bool bb_lane_gives_way(struct bb_lane *lane, bool others_have_requests);

/* Ends the bb_lane_wait() or bb_reply_wait() under way, or else the next one. Any thread, signal handlers. */
void bb_lane_wake(struct bb_lane *lane);

/* ---- out of band: work that the host does between two requests, so that no client waits for it ---- */

enum bb_aside {
    BB_ASIDE_IDLE,   /* after bb_lane_next() has returned BB_AGAIN, and only if no lane of the worker has a
                        request and nothing has come for this lane */
    BB_ASIDE_ANYWAY, /* between any two requests of this lane */
};

/* Begins out-of-band work: the worker stops accepting until bb_lane_step_back(). A new connection wakes
 * another process, or waits if there is none. If the I/O thread was started, it passes on requests of the
 * open connections. Until bb_lane_step_back() the host must not call bb_lane_next() for this lane. Never
 * blocks. Returns BB_OK; BB_AGAIN: nothing has changed, because the conditions of `when` do not hold, another
 * lane works out of band, or the worker drains. */
int bb_lane_step_aside(struct bb_lane *lane, enum bb_aside when);

/* The worker accepts connections again. No effect unless this lane has stepped aside. */
void bb_lane_step_back(struct bb_lane *lane);

/* ---- events ---- */

/* An event that the host should log. */
struct bb_event {
    int status;        /* of the core's response; 499: the client has closed; 0: no response */
    int error;         /* errno, or 0 */
    const char *text;  /* static */
    char peer[48];     /* the client's address, or "" */
    unsigned left_out; /* number of events of this kind that were not reported since the last one. A lane
                          reports each kind once per second, so that clients cannot fill the log */
};

/* Takes the oldest event, a copy that the caller owns. Returns BB_OK; BB_AGAIN: there is none. */
int bb_lane_event(struct bb_lane *lane, struct bb_event *event);

/* Aborts the current request, closes the lane's connections and frees the lane. NULL is allowed. If a disk
 * stalls, nothing is freed, as in bb_worker_free(). */
void bb_lane_free(struct bb_lane *lane);

/* ---- reply: the response to the lane's current request ---- */

/* The calls are: begin, field*, head, (write | wait)*, end. Until bb_reply_sent() is true, bb_reply_begin()
 * may be called again, which discards the collected head. */

/* Begins a response with this status. Errors: BB_ESTATUS; BB_ENOMEM; BB_EGONE: there is no request, or bytes
 * of its response have been sent. */
int bb_reply_begin(struct bb_lane *lane, int status);

/* Adds a field. Copies name and value. If the value has several lines (LF, Rack 2's form), each line becomes
 * a field. "Connection: close" is obeyed. Other hop-by-hop fields (RFC 9110 7.6.1) and names that begin with
 * "rack." are dropped. After an error the host begins the response again. Errors: BB_ENAME; BB_EVALUE, also
 * for a Content-Length that is no number or differs from an earlier one, and for a transfer coding other than
 * a single chunked or identity; BB_ENOMEM. */
int bb_reply_field(struct bb_lane *lane, const char *name, size_t name_len, const char *value,
                   size_t value_len);

#define BB_LENGTH_UNKNOWN UINT64_MAX

/* Ends the head and chooses the framing (RFC 9112 6). body_length is the length of the whole body, and is
 * used if there was no Content-Length field. BB_LENGTH_UNKNOWN: the body is chunked, or ends with the
 * connection. Sends nothing. Errors: BB_ENOMEM. */
int bb_reply_head(struct bb_lane *lane, uint64_t body_length);

/* True: this response has no body (HEAD, 1xx, 204, 205, 304). Valid after bb_reply_head(). */
bool bb_reply_bodyless(const struct bb_lane *lane);

/* True: bytes of this response may have reached the client. */
bool bb_reply_sent(const struct bb_lane *lane);

/* Sends parts of the body; the first call sends the head before them. Bytes that the socket does not take are
 * copied to memory, up to response_buffer (64 times as much for all connections of the worker), then to a
 * file in spool_dir. last: these parts end the body; a chunked body's last chunk is in the same send. No
 * parts and last false: sends the head, or pending bytes. *taken: bytes of the parts, in order, that were
 * sent or copied. Returns BB_OK: all of them. BB_AGAIN: the client may be slow, spool_max is reached, or
 * the disk is full: call bb_reply_wait(), then write the rest, which may be empty. After an error the host
 * calls bb_reply_abort(). BB_EGONE: the client is gone or has taken nothing for write_timeout, or the
 * request is past request_timeout. BB_ENOMEM. */
int bb_reply_write(struct bb_lane *lane, const struct bb_slice *parts, size_t count, bool last,
                   uint64_t *taken);

/* Blocks for a millisecond or two, in which a fast client takes the unsent bytes. If neither memory nor the
 * spool has room for the unsent bytes of a slow client, blocks until there is room. Returns BB_OK or BB_AGAIN
 * (bb_lane_wake() was called, or the I/O thread has made room): write again. BB_EGONE: the client has reset
 * the connection, has taken nothing for write_timeout (keepalive_drain while the worker drains), or takes
 * less than min_body_rate after its first 64 KiB. BB_EGONE also if other requests wait, more than half of all
 * lanes wait for clients, and this lane's client is the slowest. */
int bb_reply_wait(struct bb_lane *lane);

/* Ends the response. The core sends unsent bytes as the client takes them. The request is not valid any more.
 * Returns BB_OK. After an error the connection is aborted, so that the client can see that the response is
 * not whole. BB_ESHORT: fewer bytes than announced; BB_EGONE, BB_ENOMEM: as bb_reply_write(). */
int bb_reply_end(struct bb_lane *lane);

/* Ends the request without a whole response: resets the connection, or closes it after the core's 504. */
void bb_reply_abort(struct bb_lane *lane);

#endif
