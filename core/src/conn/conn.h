/* conn.h: one connection: reads and writes the socket, and stores incomplete requests and unsent responses.
 * No function here waits or uses the poller. Each call returns the next step, and conn->want has the events
 * that the caller waits for. Used by lanes and the I/O thread. The host is the program that calls the core.
 *
 *     HEAD    -> SERVED  the request is complete
 *             -> BODY    the head is complete, the body is not
 *             -> LOOK    the head is complete, and the disk is asked for a file of `public`
 *             -> FLUSH   rejected, or the core responds with a file
 *     LOOK    -> SERVED  there is no such file
 *             -> FLUSH   rejected, or the core responds with the file
 *     BODY    -> SERVED  the request is complete
 *             -> FLUSH   rejected, for example because the client is too slow
 *     SERVED  -> FLUSH   the response is complete
 *     FLUSH   -> HEAD    all is sent, and the connection is kept alive
 *             -> LINGER  all is sent, but the client may still be sending
 *             -> closed  all is sent, and LINGER is not needed
 *     LINGER  -> closed  the client has closed the connection, or the timeout has expired
 *
 * A new connection is in HEAD. FLUSH is skipped if the socket takes all bytes at once. If the client is gone,
 * the connection is closed in any state. */
#ifndef BB_CONN_H
#define BB_CONN_H

#include "base/buf_pool.h"
#include "base/clock.h"
#include "base/event_ring.h"
#include "bontebok.h"
#include "conn/conn_file.h"
#include "conn/unbuffered.h"
#include "http/h1_body.h"
#include "http/h1_head.h"
#include "metrics/metrics.h"
#include "sockets/sock.h"
#include "system/response_spool.h"
#include "system/spool.h"
#include "system/timeouts.h"
#include "system/trusted_proxies.h"

/* The first member of each struct that a poller's tag points to. */
struct bb__source {
    enum {
        BB_SOURCE_CONN,
        BB_SOURCE_LISTENER,
        BB_SOURCE_SHARED_QUEUE,
        BB_SOURCE_WAKE,
        BB_SOURCE_DRAIN,
        BB_SOURCE_SET
    } kind;
};

enum bb__conn_state {
    BB_CONN_HEAD,   /* idle, or in the middle of a head */
    BB_CONN_BODY,   /* the head is complete and stays in `in`; the body goes to the spool */
    BB_CONN_LOOK,   /* the head is complete and stays in `in`; a file is looked up (conn_public.c) */
    BB_CONN_SERVED, /* a request waits for a lane, or the host has it; only an unbuffered body is incomplete
                     */
    BB_CONN_FLUSH,  /* the response is complete; the client has not taken all of it */
    BB_CONN_LINGER, /* the response is sent, and the socket is half closed; input is dropped */
};

/* The caller's next step. */
enum bb__conn_next {
    BB_CONN_WAIT,    /* wait for conn->want or the timeout */
    BB_CONN_REQUEST, /* context->head and the body are complete: serve the request */
    BB_CONN_AGAIN,   /* `in` has bytes of the next request: call bb__conn_advance() or bb__conn_resume() */
    BB_CONN_CLOSE,   /* close the connection */
};

struct bb__conn {
    struct bb__source source;
    int fd;
    uint8_t state;       /* enum bb__conn_state */
    uint8_t listener;    /* number of the listener */
    bool tcp;            /* false: a unix socket */
    bool keep_alive;     /* FLUSH is followed by HEAD; false: the connection ends */
    bool linger;         /* LINGER comes before the close, because the client may still be sending */
    bool large;          /* false: the whole response fitted into one small send */
    bool head_method;    /* the method of the request is HEAD */
    bool body_in_buffer; /* the whole body is in `in`, after the head */
    bool useless;        /* this worker cannot serve the connection, which another worker has passed on */
    uint8_t group;       /* enum bb__group: the lanes that the connection is for, when it is passed on */
    bool moved;    /* came through the shared queue, so child processes of the sender may have copies of fd */
    uint32_t want; /* enum bb__interest: what to wait for */
    struct bb__timeout timeout;

    struct { /* conn_set.c: the connections of one lane */
        struct bb__conn *previous, *next;
        struct bb__conn *next_ready; /* next in the ready list: connections that need no event */
        bool is_ready;
        bool registered;   /* the poller watches fd */
        uint32_t interest; /* what the poller waits for */
    } set;

    struct bb__buf in;  /* a head and the bytes after it */
    struct bb__buf out; /* response bytes that the socket has not taken; response_spool may have more, and
                           knows which bytes of `out` its file still has */
    struct bb__response_spool response_spool;
    struct bb__conn_file *file;        /* the rest of the response, which follows those bytes; NULL: none */
    uint64_t served;                   /* complete requests so far */
    uint64_t linger_began, look_since; /* ms, when LINGER or LOOK began */
    unsigned look_answers; /* bb__file_cache_answers() at the last look; before it, to look soon */

    struct {
        size_t len;    /* bytes of the current request's head */
        size_t seen;   /* bytes of an incomplete head that were searched for its end */
        size_t parsed; /* bytes of an incomplete head that were parsed */
    } head;

    struct {                /* a complete request waits for a lane (conn_admission.c) */
        uint64_t ready_at;  /* us, when the current request came; 0: it need not wait */
        uint64_t queued_at; /* us; the wait begins at the later of ready_at and queued_at */
    } wait;

    struct {               /* response bytes that the client has not taken */
        uint64_t since;    /* ms, when response bytes began to wait for the client; 0: no bytes wait */
        uint64_t progress; /* ms, when the client was last seen to take some of `out` */
        int untaken;       /* value of bb__sock_untaken() when the client last took some of `out` */
        uint64_t owed;     /* bytes that were to be sent since `since`, taken or not */
        size_t counted;    /* bytes of this connection that spool_budget->unsent includes */
    } unsent;

    struct bb__unbuffered *unbuffered; /* NULL: the request's body is complete, or is in the spool */
    struct bb__body body;
    struct bb__spool spool;
    struct {               /* the time of the request's body */
        uint64_t began;    /* ms, when the connection entered BODY */
        uint64_t progress; /* ms, when body bytes last came */
        uint64_t received; /* bytes on the wire, with the framing of chunks */
    } upload;

    struct bb__peer peer;
};

static inline struct bb__conn *bb__conn_of_timeout(struct bb__timeout *timeout)
{
    return (struct bb__conn *)((char *)timeout - offsetof(struct bb__conn, timeout));
}

/* Returns how many bytes of the response's file the socket has not taken. */
static inline uint64_t bb__conn_file_left(const struct bb__conn *conn)
{
    return conn->file ? conn->file->body.length : 0;
}

/* Returns how many response bytes the socket has not taken: those in `out`, `response_spool` and
 * `file`. */
static inline uint64_t bb__conn_unsent(const struct bb__conn *conn)
{
    return bb__buf_len(&conn->out) + bb__response_spool_len(&conn->response_spool) + bb__conn_file_left(conn);
}

/* Returns whether the rest of the response must be read from the disk before it can be sent. */
static inline bool bb__conn_waits_for_disk(const struct bb__conn *conn)
{
    return conn->file && conn->file->disk_since > 0;
}

/* Returns whether bb__conn_unsent() is not 0. Must be cheap, because it runs for each request. */
static inline bool bb__conn_has_unsent(const struct bb__conn *conn)
{
    return conn->unsent.since > 0;
}

/* Call this if other requests are served before the request of this connection. Sets ready_at to the current
 * time unless ready_at is set. */
static inline void bb__conn_has_to_wait(struct bb__conn *conn)
{
    if (conn->wait.ready_at == 0) conn->wait.ready_at = bb__clock_us();
}

enum bb__conn_end {
    BB_CONN_END_CLOSE,
    BB_CONN_END_RESET,   /* the client must notice that its response is incomplete */
    BB_CONN_END_ABANDON, /* close only this descriptor, because the connection was passed on or this process
                            is a forked child */
};

/* Returns how to end the connection now. */
static inline enum bb__conn_end bb__conn_end_of(const struct bb__conn *conn)
{
    return bb__conn_unsent(conn) > 0 ? BB_CONN_END_RESET : BB_CONN_END_CLOSE;
}

struct bb__access_log;
struct bb__conn_admission;
struct bb__file_cache;
struct bb__h1_error;
struct bb__reports;

/* The data that a lane or the I/O thread uses for all of its connections. */
struct bb__conn_context {
    const struct bb_settings *settings;
    const struct bb__trusted_proxies *trusted;
    struct bb__spool_budget *spool_budget;
    struct bb__head_limits head_limits;
    struct bb__field_names *names;
    struct bb_field *fields; /* an array of head_limits.max_fields */
    struct bb_head head;     /* the last complete head that was parsed */
    struct bb__buf_pool buf_pool;
    char *scratch; /* BB_SCRATCH_SIZE bytes: for body bytes that go to the spool, and for dropped input */
    struct bb__date date;
    struct bb__timeouts *timeouts; /* timeouts of the lane whose connections are handled now */
    struct bb__event_ring events;
    struct bb__reports *reports; /* of the worker (conn_report.h) */
    struct bb__counts counts;
    uint64_t now; /* bb__clock_ms(), read by bb_lane_next() and bb_reply_end(), and by the I/O thread */
    struct bb__access_log *log;                 /* NULL: there is no access log */
    const struct bb__conn_admission *admission; /* NULL: no limits on waiting requests */
    const uint16_t *ports;                      /* by listener number; 0: no port */
    const uint64_t *addresses;                  /* by listener number: bb__sock_address() */
    const uint64_t *listeners;    /* one bit per listener number; constant after the first lane was made */
    struct bb__file_cache *files; /* the files of `public`; NULL: none */
    struct bb__buf answer;        /* conn_public.c: the head and the body of a small file */
    unsigned files_sent;          /* responses with a file so far */
    uint64_t crowded_until; /* ms; until then responses end their connections, to make room (lane_room.c) */
    uint64_t read_at; /* us, the value for ready_at of requests that are read now; 0: they need not wait */
    uint8_t group;    /* enum bb__group: messages for another group are sent back */
    bool draining;    /* the worker is to end gracefully */
    bool has_probes;  /* ready_path or live_path is set (conn_probe.h) */
};

#define BB_SCRATCH_SIZE (64 * 1024)

/* ms. For a request body and in the state FLUSH, min_body_rate applies only after this time, because TCP slow
 * start may delay the first bytes. */
#define BB_RATE_AFTER 10000

/* This number of bytes is added to the bytes that a client has taken, before the rate of the client is
 * compared with min_body_rate. The kernel counts taken bytes only in steps of this size. */
#define BB_RATE_CREDIT (64 * 1024)

/* ms. Limits for LINGER, and times between two checks in BODY and FLUSH. */
#define BB_LINGER_TIME   3000  /* LINGER ends when the client has sent and taken nothing for this time */
#define BB_LINGER_MAX    30000 /* the longest LINGER */
#define BB_BODY_TICK_MAX 1000
#define BB_WRITE_TICK    10000 /* if there is no write_timeout */
static inline uint64_t bb__conn_write_tick(uint64_t write_timeout)
{
    return write_timeout == 0 ? BB_WRITE_TICK : write_timeout < 8 ? 1 : write_timeout / 8;
}

void bb__conn_set_durations(struct bb__timeouts *timeouts, const struct bb_settings *settings);

/* The new connection owns fd. Returns NULL when out of memory; then the caller still owns fd. */
struct bb__conn *bb__conn_new(int fd, struct bb__conn_context *context);

/* Frees the connection, and closes its socket as `end` says. */
void bb__conn_free(struct bb__conn *conn, struct bb__conn_context *context, enum bb__conn_end end);

/* Does not count the time between `from` and `now` (ms) against the client, because the server was too busy
 * or was frozen (SIGSTOP) in this time. The caller also calls bb__timeout_put_off(). */
static inline void bb__conn_excuse(struct bb__conn *conn, uint64_t from, uint64_t now)
{
    conn->upload.began = bb__excused(conn->upload.began, from, now);
    conn->upload.progress = bb__excused(conn->upload.progress, from, now);
    conn->unsent.progress = bb__excused(conn->unsent.progress, from, now);
    conn->linger_began = bb__excused(conn->linger_began, from, now);
    conn->look_since = bb__excused(conn->look_since, from, now);
    if (conn->state == BB_CONN_SERVED) return;
    if (bb__conn_has_unsent(conn)) conn->unsent.since = bb__excused(conn->unsent.since, from, now);
    if (bb__conn_waits_for_disk(conn))
        conn->file->disk_since = bb__excused(conn->file->disk_since, from, now);
}

/* Call this when the socket is ready. Reads input, or sends unsent bytes. events: a mask of enum
 * bb__interest. */
enum bb__conn_next bb__conn_on_ready(struct bb__conn *conn, struct bb__conn_context *context,
                                     uint32_t events);

/* Parses the bytes in `in`. */
enum bb__conn_next bb__conn_advance(struct bb__conn *conn, struct bb__conn_context *context);

/* Call this when the timeout of the connection has expired. The caller has cleared the timeout. */
enum bb__conn_next bb__conn_on_timeout(struct bb__conn *conn, struct bb__conn_context *context);

/* Parses the connection's complete head into context->head again. False: this worker's settings do not allow
 * the head. */
bool bb__conn_parse_again(struct bb__conn *conn, struct bb__conn_context *context);

/* Sets head_method. context->head must be the connection's head. */
static inline void bb__conn_note_method(struct bb__conn *conn, const struct bb__conn_context *context)
{
    const struct bb_slice *method = &context->head.method;
    conn->head_method = method->at && method->len == 4 && memcmp(method->at, "HEAD", 4) == 0;
}

/* conn_request.c */

/* Continues a connection that came through the shared queue, or that was in the ready list (conn_set.h). If
 * the client has closed the connection, the request is not served. */
enum bb__conn_next bb__conn_resume(struct bb__conn *conn, struct bb__conn_context *context);

/* Fills in the request of a SERVED connection for the host. */
void bb__conn_fill_request(struct bb__conn *conn, struct bb__conn_context *context,
                           struct bb_request *request);

/* In conn_proxy_time.c: returns how long ago a trusted proxy received the request, in us; 0: unknown.
 * context->head must be the request's head, and context->head.has_start must be true. */
uint64_t bb__conn_proxy_time(const struct bb__conn *conn, const struct bb__conn_context *context);

/* conn_send.c */

/* Returns true if more response bytes of this connection must not be kept in memory. */
static inline bool bb__conn_is_behind(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    size_t len = bb__buf_len(&conn->out);
    return bb__response_spool_len(&conn->response_spool) > 0 ||
           (len > 0 &&
            (len >= context->settings->response_buffer || bb__spool_memory_is_full(context->spool_budget)));
}

/* Updates the worker's total of response bytes in memory. */
void bb__conn_count_memory(struct bb__conn *conn, struct bb__conn_context *context);

/* Updates unsent.since and unsent.owed after `more` bytes were added to the unsent bytes. */
void bb__conn_note_owed(struct bb__conn *conn, struct bb__conn_context *context, uint64_t more);

/* The rate of a client that has taken these bytes in `time` ms, in bytes per second. Without BB_RATE_CREDIT,
 * a client whose first bytes are still on the way would seem slow. */
static inline uint64_t bb__rate_of(uint64_t taken, uint64_t time)
{
    return (taken + BB_RATE_CREDIT) * 1000 / (time > 1000 ? time : 1000);
}

/* Whether that rate is below min_body_rate. False during the first BB_RATE_AFTER ms. */
static inline bool bb__rate_is_too_low(uint64_t taken, uint64_t time, const struct bb_settings *settings)
{
    return time > BB_RATE_AFTER && (taken + BB_RATE_CREDIT) * 1000 < settings->min_body_rate * time;
}

/* Returns how fast the client has taken bytes since unsent.since, in bytes per second. Bytes in the kernel's
 * buffer do not count as taken. BB_RATE_CREDIT is added to the taken bytes. */
uint64_t bb__conn_taking_rate(const struct bb__conn *conn, uint64_t now);

/* Returns whether the client takes less than min_body_rate. False during the first BB_RATE_AFTER ms.
 * BB_RATE_CREDIT is added to the taken bytes. */
bool bb__conn_takes_too_slowly(const struct bb__conn *conn, const struct bb__conn_context *context);

/* Sends unsent bytes. BB_OK: all are sent; BB_AGAIN: the socket is full, or other connections come first;
 * BB_EGONE: the client is gone, or a file cannot be read. */
int bb__conn_flush(struct bb__conn *conn, struct bb__conn_context *context);

/* Enters FLUSH, or stays in FLUSH because the client has taken bytes or the disk is slow. write_timeout
 * begins again. */
enum bb__conn_next bb__conn_await_taking(struct bb__conn *conn, struct bb__conn_context *context);

/* Checks in FLUSH whether the client takes bytes. False: the client has taken nothing for write_timeout. */
bool bb__conn_check_taking(struct bb__conn *conn, struct bb__conn_context *context);

/* Call this when the whole response is sent. Enters the next state, and returns the next step. */
enum bb__conn_next bb__conn_after_response(struct bb__conn *conn, struct bb__conn_context *context);

/* Drops the request of a SERVED connection. Its whole response is sent, or is in `out`, `response_spool` and
 * `file`. The caller has set conn->keep_alive. */
enum bb__conn_next bb__conn_response_done(struct bb__conn *conn, struct bb__conn_context *context);

/* Enters LINGER. The whole response is sent. */
enum bb__conn_next bb__conn_linger(struct bb__conn *conn, struct bb__conn_context *context);

/* Reads input in LINGER and drops it. */
enum bb__conn_next bb__conn_on_lingering(struct bb__conn *conn, struct bb__conn_context *context);

/* Sends "100 Continue" (RFC 9110 10.1.1). BB_OK or BB_EGONE. */
int bb__conn_say_continue(struct bb__conn *conn, struct bb__conn_context *context);

/* conn_reject.c */

/* Reports the reason (conn_report.h), and sends its error response to a request that the host never sees.
 * Then lingers, so that the client can read the response (RFC 9112 9.6). Bytes after the request are never
 * parsed. error: errno, or 0. */
enum bb__conn_next bb__conn_reject(struct bb__conn *conn, struct bb__conn_context *context,
                                   enum bb__reason reason, int error);

/* The same, but without a report. */
enum bb__conn_next bb__conn_reject_with(struct bb__conn *conn, struct bb__conn_context *context,
                                        const struct bb__h1_error *error);

/* Whether the connection may stay open after a response of the core. context->head is its request's head. */
bool bb__conn_may_keep_alive(const struct bb__conn *conn, const struct bb__conn_context *context);

/* In conn_admission.c: returns when the complete request began to wait, in us; 0: no complete request
 * waits. */
uint64_t bb__conn_waits_since(const struct bb__conn *conn);

/* In conn_log.c: writes the access log's line for a rejected request, which must still be in `in`. */
void bb__conn_log_rejected(const struct bb__conn *conn, struct bb__conn_context *context,
                           const struct bb__h1_error *error);

/* In conn_log.c: writes the access log's line for a request for a file. head: of the response. began: us; 0:
 * the duration is unknown. */
void bb__conn_log_file(const struct bb__conn *conn, struct bb__conn_context *context, int status,
                       uint64_t body_length, struct bb_slice head, uint64_t began);

/* In conn_log.c: writes the access log's line for a request that is past request_timeout. duration: us since
 * the request came. */
void bb__conn_log_overdue(const struct bb__conn *conn, struct bb__conn_context *context,
                          const struct bb__h1_error *error, const struct bb_request *request,
                          uint64_t duration);

#endif
