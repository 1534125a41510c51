/*
 * bontebok.h: everything a host-language binding may use of the core; nothing else is included by one.
 *
 * The core is pulled: it never calls the host. A binding creates one worker per process and one lane per host
 * thread, then loops: bb_lane_next() hands out a complete request, the bb_reply_*() calls answer it. Only
 * bb_lane_wait(), bb_reply_wait() and bb_worker_drain() block; a host with a global lock releases it around
 * these and nowhere else. Others wait for the I/O thread, if it has something in its hands just then. No
 * pointer into host memory is kept once a call has returned.
 *
 * Threads: a worker may be shared by threads, a lane and its current request belong to the thread that serves
 * it. A call that may come from any thread says so; bb_lane_wake() also from a signal handler.
 *
 * Units: bytes; times in milliseconds. 0 means "no limit" where a setting says so.
 */
#ifndef BONTEBOK_H
#define BONTEBOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bontebok_scoreboard.h"
#include "bontebok_time.h"

/* ---- codes: 0 done, positive news, negative failure ---- */

#define BB_CODES(X)                                                                                          \
    X(BB_OK, 0, "done")                                                                                      \
    X(BB_AGAIN, 1, "not now: wait, then call again")                                                         \
    X(BB_EOF, 2, "the peer has sent all it will send")                                                       \
    X(BB_DRAINED, 3, "nothing is left to serve: the lane may end")                                           \
    X(BB_EVENT, 4, "something happened that the host should log")                                            \
    X(BB_ENOMEM, -1, "out of memory")                                                                        \
    X(BB_ESYSTEM, -2, "a system call failed; errno tells which way")                                         \
    X(BB_EGONE, -3, "the client has gone, or does not read")                                                 \
    X(BB_ENAME, -4, "a field name is no token (RFC 9110 5.1)")                                               \
    X(BB_EVALUE, -5, "a field value holds CR, NUL or another control byte (RFC 9110 5.5)")                   \
    X(BB_ESTATUS, -6, "a status outside 100..999")                                                           \
    X(BB_ESHORT, -7, "the body is shorter than the Content-Length that was announced")                       \
    X(BB_ENOSPACE, -8, "the spool is full, or its disk is")                                                  \
    X(BB_EFORMAT, -9, "a text among the settings that is written wrong")

enum bb_code {
#define BB_CODE_ENUM(name, number, text) name = number,
    BB_CODES(BB_CODE_ENUM)
#undef BB_CODE_ENUM
};

/* The text of a code, static; "unknown code" for any other number. */
const char *bb_error_text(int code);

/* ---- what a request looks like ---- */

struct bb_slice {
    const char *at; /* not NUL-terminated; NULL when there is none */
    size_t len;
};

/* What the core itself understands of a field; the host needs it to map names, never to check values. */
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
    BB_FIELD_UNDERSCORE, /* never handed out unless allow_underscore_headers: X_A and X-A share one CGI name
                          */
};

struct bb_field {
    const char *name;
    const char *value; /* without surrounding white space */
    uint32_t value_len;
    uint16_t name_len;
    uint8_t id; /* 1..255: a name the lane has learned, the same number in any letter case; 0: not learned */
    uint8_t kind; /* enum bb_field_kind */
};

/* One request head, RFC 9112 2.1. All pointers lead into the connection's buffer; an absolute form without a
 * path has a static "/". */
struct bb_head {
    struct bb_slice method;
    struct bb_slice target; /* as it was sent: REQUEST_URI */
    struct bb_slice path;   /* raw, never decoded; "*" only for OPTIONS */
    struct bb_slice query;  /* without the "?"; empty when there is none */
    struct bb_slice
        authority;        /* of the absolute form, else of Host; NULL when there was neither (HTTP/1.0) */
    struct bb_slice host; /* its host part, brackets of an IPv6 literal included */
    struct bb_slice port; /* its port digits; empty when it names none */
    const struct bb_field *fields;
    unsigned field_count;
    uint64_t content_length; /* 0 unless has_length */
    uint8_t minor_version;   /* 0 or 1 */
    bool has_length;
    bool chunked;
    bool keep_alive;      /* what the client asks for by version and Connection */
    bool expect_continue; /* HTTP/1.1 only, RFC 9110 10.1.1 */
    bool repeats;         /* two fields may have the same CGI name */
    bool has_start;       /* X-Request-Start */
};

/* A complete request: head and body are here, the client has nothing more to say. Owned by the core; valid
 * until bb_reply_end() or bb_reply_abort(). */
struct bb_request {
    struct bb_head head;
    uint64_t body_length; /* decoded bytes */
    const char *body;     /* the body when it is in memory, else NULL */
    int body_fd;          /* the body when it is in the spool, read it with pread() from 0; else -1 */
    struct bb_slice peer; /* the client's address as text: "192.0.2.1", "2001:db8::1", "127.0.0.1" for unix */
    unsigned listener;    /* number that bb_worker_listen() was given */
    uint64_t queue_time;  /* microseconds, see below */
    uint64_t proxy_time;  /* the same */
};

/* How long a request has waited for a lane, by our own clock: since its last byte was read, its connection
 * was accepted with the whole of it there, or, where it was pipelined, the one before it was answered, as it
 * could not be served sooner. Over TCP the time in a listener's queue is in it, from 5 ms on; on unix
 * sockets nobody tells. Not in it are the milliseconds until a busy lane's I/O thread looked at the socket. 0
 * also for less than the kernel's tick (1 to 4 ms), unless the access log has a time.
 *
 * proxy_time is how long it has waited since a proxy had it, by that one's clock: X-Request-Start, if it
 * comes from one of trusted_proxies, is not in the future and not older than an hour; else 0. No limit goes
 * by it. */

/* ---- settings ---- */

#define BB_TRUSTED_PROXIES_MAX   6144
#define BB_ACCESS_LOG_MAX        256
#define BB_ACCESS_LOG_FORMAT_MAX 1024

/* name, default: the one list of what the core can be told. docs/CONFIGURATION explains each under its option
 * name (max_target is MaxTarget). Times are milliseconds, sizes bytes, switches 0 or 1. */
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
    char spool_dir[256];  /* NUL-terminated directory for what memory is not meant for */
    char server_name[64]; /* value of the Server field; empty: no such field */
    char trusted_proxies[BB_TRUSTED_PROXIES_MAX];     /* whose X-Request-Start counts: "unix", addresses, and
                                                         networks (10.0.0.0/8), up to 128, with spaces between */
    char access_log[BB_ACCESS_LOG_MAX];               /* see below; empty: none */
    char access_log_format[BB_ACCESS_LOG_FORMAT_MAX]; /* NUL-terminated, as the above */
    char health_paths[256];                           /* as above, with spaces between them; see below */
};

/* Fills *settings with the defaults above, spool_dir "/tmp", no server_name, trusted_proxies "unix
 * 127.0.0.0/8 ::1", no access_log, the access_log_format "combined". */
void bb_settings_init(struct bb_settings *settings);

/* ---- access log ---- */

/* A line for each request that was answered, also by the core itself, or aborted. Lanes collect lines, and
 * write them when nothing has come for some milliseconds, behind a request that took as long, a second after
 * the first, or when there is no room for more; while the host has a request, none are written. What the
 * target does not take at once stays in memory; what that has no room for is lost, counted, and told of as
 * news. A lane never waits for a pipe or a socket.
 *
 *     /path            appended to; made when missing. A FIFO may be without a reader for a time
 *     -                standard output; /dev/stdout and /dev/stderr are what they say
 *     syslog:KEY=VALUE,...     datagrams (RFC 3164) to socket=/dev/log with facility=local7, severity=info,
 *                              tag=bontebok; what is given replaces these
 *
 * The format is a name (common, combined, ltsv, json) or in Apache's notation; docs/LOGS.md lists what it may
 * hold. A host that logs to a pipe ignores SIGPIPE. */

/* What a text says that is wrong, NUL-terminated. */
#define BB_FAULT_MAX 160

/* Whether a worker with these settings could log: compiles the format, opens and closes the target. BB_OK;
 * BB_EFORMAT with the reason in fault; BB_ESYSTEM. */
int bb_access_log_check(const struct bb_settings *settings, char fault[BB_FAULT_MAX]);

/* ---- worker: what the lanes of one process share ---- */

struct bb_worker;

/* Creates the process's worker. Copies *settings. Out: *worker, owned by the caller, freed with
 * bb_worker_free(). Must be called after the last fork(): in a child that is forked later every call on it
 * and its lanes is inert (BB_DRAINED; replies BB_EGONE). An access log that cannot be opened is news, and is
 * tried again. Errors: BB_ENOMEM, BB_ESYSTEM, BB_EFORMAT. */
int bb_worker_new(struct bb_worker **worker, const struct bb_settings *settings);

/* Adds a listening stream socket; call it before the first bb_lane_new() and bb_worker_drain(). `listener`
 * (0..63) comes back in each request. The descriptor becomes the worker's: it is made non-blocking and
 * close-on-exec, and closed when the worker drains or is freed. Errors: BB_ENOMEM (more than 64, or a number
 * above 63), BB_ESYSTEM; fd stays the caller's then.
 */
int bb_worker_listen(struct bb_worker *worker, int fd, unsigned listener);

/* Has the worker's lanes shown on a scoreboard, which outlives them, and pass on what they have no time for
 * while lanes of other processes are idle. Call it before bb_worker_start_io_thread() and the first
 * bb_lane_new(). */
void bb_worker_scoreboard(struct bb_worker *worker, struct bb_scoreboard *scoreboard);

/* Has the worker share a queue of connections with other processes, which serve the same listeners under the
 * same numbers: in is where they are put in, out where they come out, of a SOCK_SEQPACKET pair. Both become
 * the worker's. Without it the lanes of the worker have one of their own. Call it before the first
 * bb_lane_new(). What comes from a listener that this worker has not is reset. Errors: BB_ESYSTEM (they stay
 * the caller's, also when they are something else). */
int bb_worker_share_queue(struct bb_worker *worker, int in, int out);

/* Starts the thread that minds the connections of lanes whose host is busy with a request for more than a
 * millisecond: it reads, writes and times out, and passes complete requests on to an idle lane. No signal
 * reaches it. Call it before the first bb_lane_new(). Errors: BB_ENOMEM, BB_ESYSTEM. */
int bb_worker_start_io_thread(struct bb_worker *worker);

/* A request that the host has had for request_timeout, which takes the I/O thread: the client is answered
 * with 504, or finds its connection closed if it has had a part of the answer; what the host still replies is
 * thrown away (BB_EGONE). Who has all of it on its way keeps his connection. It is told of as news, and
 * bb_worker_alarm() becomes readable, as after request_timeout_soft: what is wrong with the request's thread
 * only the host can find out, and end. The time in bb_reply_wait() does not count. Once a process that was
 * stopped for some seconds goes on, each request has as long on top, to a second. */

/* While all lanes of all processes are busy, as the scoreboard shows, complete requests wait in the shared
 * queue, and connections that nobody has accepted are accepted by the I/O thread. With max_queue requests
 * waiting one more is answered with 503 and Retry-After, and so is one that has waited for queue_timeout,
 * some 10 ms later at the latest. Its connection is kept alive if all of it has come. Requests for the paths
 * in health_paths are not refused: they wait. Takes I/O thread and board. Refusals are told of as news. */

struct bb_event;

/* bb_lane_event() for what no lane may come to tell, as they are busy; any thread. */
int bb_worker_event(struct bb_worker *worker, struct bb_event *event);

/* What becomes of connections that nobody has accepted when a worker is drained. */
enum bb_queue {
    BB_QUEUE_TAKE,  /* they are taken and answered; of several processes that share the listeners each takes
                       some */
    BB_QUEUE_LEAVE, /* other processes have the listeners, too, and go on: theirs, but for what a lane that
                       waits may have been woken for, as nobody else was */
};

/* Begins the graceful end: the listeners are closed at once, also while every lane is busy; where their
 * queues are to be taken and there is no room for that (descriptors, memory), as soon as a lane has it, at
 * the latest when the worker is freed. What is in flight is answered with "Connection: close". Every lane
 * then ends with BB_DRAINED. Blocks for as long as it takes to empty the queues, some milliseconds; about 200
 * ms when clients connect as fast as they are taken: then all that is queued by now is taken, and who comes
 * later is refused. Any thread, but no signal handler. Once the listeners are closed a further order only
 * tells anew whether others go on.
 */
void bb_worker_drain(struct bb_worker *worker, enum bb_queue queue);

/* Opens the access log's file anew by its name, after it was renamed; of standard output and error, what they
 * are now; what is no file stays as it is. Any thread, but no signal handler. BB_OK; BB_ESYSTEM: it goes on
 * with the one that it has. */
int bb_worker_reopen_logs(struct bb_worker *worker);

/* Frees the worker and closes its listeners. All lanes must be freed before. NULL is allowed. If the I/O
 * thread has not come back from a step for a second, as a disk stalls, it does nothing: the process is to
 * end. */
void bb_worker_free(struct bb_worker *worker);

/* ---- lane: one host thread, one request at a time ---- */

struct bb_lane;

/* Out: *lane, owned by the caller, freed with bb_lane_free(). Errors: BB_ENOMEM, BB_ESYSTEM. */
int bb_lane_new(struct bb_lane **lane, struct bb_worker *worker);

/* The next complete request. Never blocks.
 * Returns BB_OK with *request; BB_AGAIN: nothing yet, call bb_lane_wait(); BB_EVENT: call bb_lane_event(),
 * which may have nothing to tell, then again; BB_DRAINED: the worker drains and this lane has nothing left. A
 * request must be ended before the next is asked for. */
int bb_lane_next(struct bb_lane *lane, const struct bb_request **request);

/* Blocks until there is something to do, a deadline is due or bb_lane_wake() was called. Returns BB_OK. */
int bb_lane_wait(struct bb_lane *lane);

/* For a host with a global lock, behind each request: whether it is to let its other threads run before it
 * asks for the next one. True when the lane has gone on for a millisecond while other lanes of the worker
 * waited: those that were woken, and any, if the host says that others have requests. A host may keep the
 * lock for far longer otherwise (Ruby: 100 ms), and the others' requests wait. */
bool bb_lane_gives_way(struct bb_lane *lane, bool others_have_requests);

/* Makes a bb_lane_wait() or bb_reply_wait() that is under way, or else the next one, return. Any thread,
 * signal handler. */
void bb_lane_wake(struct bb_lane *lane);

/* ---- out of band: what the host does between two requests, at no client's cost ---- */

enum bb_aside {
    BB_ASIDE_IDLE, /* where bb_lane_next() has said BB_AGAIN, only if no lane of the worker has a request and
                      nothing has come that this one is to serve first */
    BB_ASIDE_ANYWAY, /* between any two requests of this lane */
};

/* The worker leaves the listeners' queues: until bb_lane_step_back() a new connection wakes other processes,
 * or waits if there are none. Requests on connections that were accepted are passed on by the I/O thread, if
 * one was started: then this lane is not to be asked for any meanwhile. Never blocks. Returns BB_OK;
 * BB_AGAIN: not now, nothing has changed; also when another lane has stepped aside, or the worker drains. */
int bb_lane_step_aside(struct bb_lane *lane, enum bb_aside when);

/* The worker takes connections again. No effect unless this lane has stepped aside. */
void bb_lane_step_back(struct bb_lane *lane);

/* ---- news ---- */

/* What the host should log. */
struct bb_event {
    int status;        /* the answer that the client was given, or 0 */
    int error;         /* errno, or 0 */
    const char *text;  /* static */
    char peer[48];     /* the client's address, or "" */
    unsigned left_out; /* like it and not told, since the last that was: clients do not fill the log. They are
                          told when something happens on the lane, a second or more after that one */
};

/* Takes the oldest news. Returns BB_OK, or BB_AGAIN when there is none. */
int bb_lane_event(struct bb_lane *lane, struct bb_event *event);

/* Closes every connection of the lane (aborting the current request) and frees it. NULL is allowed. May have
 * to wait for the I/O thread, which may be writing to a disk, as bb_worker_free() does. */
void bb_lane_free(struct bb_lane *lane);

/* ---- reply: answers the lane's current request ---- */

/* A reply is: begin, field*, head, (write | wait)*, end. Until something has left (bb_reply_sent()), begin
 * may be called again and throws away what was collected. */

/* Starts (again) with this status. Errors: BB_ESTATUS. */
int bb_reply_begin(struct bb_lane *lane, int status);

/* Adds one field. The bytes are copied. A value with LF becomes one field a line (Rack 2's form). Connection
 * is obeyed when it says close, other hop-by-hop fields (RFC 9110 7.6.1) and names that begin with "rack."
 * are dropped. Errors: BB_ENAME, BB_EVALUE, BB_ENOMEM; the reply must then be begun again. */
int bb_reply_field(struct bb_lane *lane, const char *name, size_t name_len, const char *value,
                   size_t value_len);

#define BB_LENGTH_UNKNOWN UINT64_MAX

/* Ends the head and settles the framing (RFC 9112 6). body_length: what the host knows of the whole body,
 * used when no Content-Length field was given; BB_LENGTH_UNKNOWN: chunked, or until close. Nothing is sent
 * yet. After it bb_reply_bodyless() tells whether the body is wanted at all. Errors: BB_ENOMEM. */
int bb_reply_head(struct bb_lane *lane, uint64_t body_length);

/* True when this answer has no body: HEAD, 1xx, 204, 205, 304. */
bool bb_reply_bodyless(const struct bb_lane *lane);

/* True once a byte of this reply may have reached the client. */
bool bb_reply_sent(const struct bb_lane *lane);

/* Adds body parts and sends (with the head, the first time) what the socket takes. *taken: bytes of the
 * parts, in order, that the core has sent or copied: to memory up to response_buffer, and, of all connections
 * of the worker, 64 times as much; then to a file in spool_dir. BB_OK: all of it. BB_AGAIN: the client has
 * yet to show that it is slow, spool_max is reached, or the disk is full: bb_reply_wait(), then call again
 * with the rest, which may be nothing. BB_EGONE: the client is gone, or has taken nothing for write_timeout:
 * abort. `last` true: these parts are the whole rest, so that head, body and end leave in one send. No parts
 * and last false: sends the head, or what is pending. Errors: BB_EGONE, BB_ENOMEM. */
int bb_reply_write(struct bb_lane *lane, const struct bb_slice *parts, size_t count, bool last,
                   uint64_t *taken);

/* Blocks, for a millisecond or two, to see whether a client is quick; then, if no file has room for what it
 * does not take, until there is some. BB_OK: write again. BB_AGAIN: bb_lane_wake() was called, or the I/O
 * thread has made room. BB_EGONE: reset, nothing taken for write_timeout (once the worker drains:
 * keepalive_drain), or, but for 64 KiB, less than min_body_rate; or other requests wait, half of all lanes
 * wait for clients, and this one is the slowest. */
int bb_reply_wait(struct bb_lane *lane);

/* Ends the reply; what is still unsent leaves as the client takes it. BB_ESHORT: fewer bytes than announced,
 * the connection was aborted so that the client can tell. The request is no longer valid. */
int bb_reply_end(struct bb_lane *lane);

/* Ends the request without a (whole) answer: resets the connection. */
void bb_reply_abort(struct bb_lane *lane);

#endif
