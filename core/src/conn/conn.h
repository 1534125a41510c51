/* conn.h: one connection. It reads and writes its socket, and keeps unfinished input and output. It never
 * waits and never touches the poller: each call returns the next step, and `want` is what to wait for. Used
 * by lanes and the I/O thread.
 *
 *     HEAD    -> SERVED  the request is complete
 *             -> BODY    the head is complete, the body is not
 *             -> FLUSH   rejected
 *     BODY    -> SERVED  the request is complete
 *             -> FLUSH   rejected, also if the client is too slow
 *     SERVED  -> FLUSH   the response is complete
 *     FLUSH   -> HEAD    all is sent, and the connection is kept alive
 *             -> LINGER  all is sent, but the client may still be sending
 *             -> closed  all is sent
 *     LINGER  -> closed  the client has closed the connection, or the timeout is over
 *
 * A new connection is in HEAD. FLUSH is skipped if the socket takes everything at once. In any state the
 * connection is closed if the client is gone. */
#ifndef BB_CONN_H
#define BB_CONN_H

#include "base/buf_pool.h"
#include "base/clock.h"
#include "base/event_ring.h"
#include "bontebok.h"
#include "http/h1_body.h"
#include "http/h1_head.h"
#include "system/response_spool.h"
#include "system/sock.h"
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
    BB_CONN_SERVED, /* the host has the request */
    BB_CONN_FLUSH,  /* the response is complete; the client has not taken all of it */
    BB_CONN_LINGER, /* the response is sent; half closed; input is dropped */
};

/* The caller's next step. */
enum bb__conn_next {
    BB_CONN_WAIT,    /* wait for conn->want or the timeout */
    BB_CONN_REQUEST, /* context->head and the body are complete: serve the request */
    BB_CONN_AGAIN,   /* `in` has bytes of another request: call bb__conn_advance() in its turn */
    BB_CONN_CLOSE,   /* end the connection */
};

struct bb__conn {
    struct bb__source source;
    int fd;
    uint8_t state;       /* enum bb__conn_state */
    uint8_t listener;    /* number of the listener that accepted it */
    bool tcp;            /* else a unix socket */
    bool keep_alive;     /* FLUSH is followed by HEAD; else the connection ends */
    bool linger;         /* it ends with LINGER, because the client may still be sending */
    bool large;          /* the response did not leave in one small send */
    bool head_method;    /* the method of the request is HEAD */
    bool body_in_buffer; /* the whole body is behind the head in `in` */
    bool registered;     /* the poller knows it (conn_set.c) */
    bool useless;        /* it was passed on, and this worker cannot serve its request */
    bool moved;          /* another process had it, and children of that process may have its descriptor */
    uint32_t want;       /* enum bb__interest: what to wait for */
    uint32_t interest;   /* what the poller waits for (conn_set.c) */

    struct bb__timeout timeout;
    struct bb__conn *previous, *next; /* all connections of the set (conn_set.c) */
    struct bb__conn *next_ready;      /* the next connection that needs no event to continue (conn_set.c) */
    bool is_ready;

    struct bb__buf in;  /* a head, then the bytes behind it */
    struct bb__buf out; /* response bytes that the socket has not taken; response_spool may have more */
    struct bb__response_spool response_spool;
    size_t head_len;         /* of the current request */
    size_t head_seen,        /* bytes of an incomplete head that were searched for its end */
        head_parsed;         /* bytes of an incomplete head that were parsed */
    int untaken;             /* bb__sock_untaken() when the client last took some of `out` */
    uint64_t served;         /* requests handed out */
    uint64_t ready_at;       /* us, since when its request could be served; 0: it is served at once */
    uint64_t queued_at;      /* us, since when the request waits, if later than ready_at (conn_admission.c) */
    uint64_t linger_began;   /* ms */
    uint64_t write_progress; /* ms, when the client was last seen to take some of `out` */
    uint64_t unsent_since;   /* ms, since when response bytes wait for the client; 0: none wait */
    uint64_t owed;           /* bytes that the client could take since unsent_since */
    size_t counted;          /* bytes in memory that the worker's total includes */

    struct bb__body body;
    struct bb__spool spool;
    uint64_t body_began, /* ms */
        body_progress,   /* ms, when body bytes last came */
        body_received;   /* bytes on the wire */

    char peer[BB_PEER_MAX];
};

static inline struct bb__conn *bb__conn_of_timeout(struct bb__timeout *timeout)
{
    return (struct bb__conn *)((char *)timeout - offsetof(struct bb__conn, timeout));
}

/* Returns the response bytes that the socket has not taken: in `out` and in `response_spool`. */
static inline uint64_t bb__conn_unsent(const struct bb__conn *conn)
{
    return bb__buf_len(&conn->out) + bb__response_spool_len(&conn->response_spool);
}

/* Returns whether bb__conn_unsent() is not 0. Cheap, because each request calls it. */
static inline bool bb__conn_has_unsent(const struct bb__conn *conn)
{
    return conn->unsent_since > 0;
}

/* Notes since when the connection's request waits, because other requests are served first. */
static inline void bb__conn_has_to_wait(struct bb__conn *conn)
{
    if (conn->ready_at == 0) conn->ready_at = bb__clock_us();
}

enum bb__conn_end {
    BB_CONN_END_CLOSE,
    BB_CONN_END_RESET,   /* the client must notice that its response is incomplete */
    BB_CONN_END_ABANDON, /* in this process only: another process has the connection */
};

/* Returns how the connection must end if it ends now. */
static inline enum bb__conn_end bb__conn_end_of(const struct bb__conn *conn)
{
    return bb__conn_unsent(conn) > 0 ? BB_CONN_END_RESET : BB_CONN_END_CLOSE;
}

/* Logged reasons why the host never sees a request. The client gets a 5xx response, or none. */
enum bb__fault {
    BB_FAULT_SPOOL_FULL,       /* SpoolMax */
    BB_FAULT_SPOOL_UNWRITABLE, /* the disk is full, or fails */
    BB_FAULT_SPOOL_NONE,       /* no memory, no file */
    BB_FAULT_UNKNOWN,
    BB_FAULT_VERSION,
    BB_FAULT_CLIENT_GONE,
    BB_FAULT_CROWDED,    /* MaxConnections, or no descriptors are left */
    BB_FAULT_QUEUE_FULL, /* MaxQueue */
    BB_FAULT_QUEUE_TIME, /* QueueTimeout */
    BB_FAULT_UNWATCHED,  /* no room in epoll */
    BB_FAULT_UNSENT,     /* the request cannot be passed on */
    BB_FAULT_USELESS,    /* passed on by a worker with other listeners or limits, or of another version */
    BB_FAULTS,
};

struct bb__access_log;
struct bb__conn_admission;
struct bb__h1_error;

/* The data that a lane or the I/O thread uses for all of its connections. */
struct bb__conn_context {
    const struct bb_settings *settings;
    const struct bb__trusted_proxies *trusted;
    struct bb__spool_budget *spool_budget;
    struct bb__head_limits head_limits;
    struct bb__field_names *names;
    struct bb_field *fields; /* head_limits.max_fields of them */
    struct bb_head head;     /* the last complete head that was parsed */
    struct bb__buf_pool buf_pool;
    char *scratch; /* BB_SCRATCH_SIZE: body bytes on their way to the spool, discarded bytes */
    struct bb__date date;
    struct bb__timeouts *timeouts; /* of the set whose connections are handled now */
    struct bb__event_ring events;
    struct bb__event_pace fault_events[BB_FAULTS];
    uint64_t now;                               /* bb__clock_ms() at the last look at the poller */
    struct bb__access_log *log;                 /* NULL: there is no access log */
    const struct bb__conn_admission *admission; /* NULL: requests may wait without limits */
    const uint16_t *ports;                      /* by listener number; 0: no port */
    const uint64_t *addresses;                  /* by listener number: bb__sock_address() */
    const uint64_t *listeners; /* one bit per listener number; complete when the first lane begins */
    uint64_t read_at; /* us, when the bytes that are read now had come; 0: their request is served at once */
    bool draining;
};

#define BB_SCRATCH_SIZE (64 * 1024)

/* ms. min_body_rate applies only after this time, because slow start may delay the first bytes. */
#define BB_RATE_AFTER 10000

/* Bytes by which a reading client may be behind min_body_rate, because the kernel counts what the client has
 * taken only in steps of this size. */
#define BB_RATE_CREDIT (64 * 1024)

/* ms. Limits for LINGER, and times between two checks in BODY and FLUSH. */
#define BB_LINGER_TIME   3000  /* LINGER ends so long after the client last sent or took something */
#define BB_LINGER_MAX    30000 /* LINGER ends after this time in any case */
#define BB_BODY_TICK_MAX 1000
#define BB_WRITE_TICK    10000 /* if there is no write_timeout */
static inline uint64_t bb__conn_write_tick(uint64_t write_timeout)
{
    return write_timeout == 0 ? BB_WRITE_TICK : write_timeout < 8 ? 1 : write_timeout / 8;
}

void bb__conn_set_durations(struct bb__timeouts *timeouts, const struct bb_settings *settings);

/* Takes over fd. Returns NULL when out of memory; then fd stays the caller's. */
struct bb__conn *bb__conn_new(int fd, struct bb__conn_context *context);

/* Frees everything and ends the connection. */
void bb__conn_free(struct bb__conn *conn, struct bb__conn_context *context, enum bb__conn_end end);

/* For `time` ms nobody could look at the connection. This time does not count against the client. The caller
 * puts off the timeouts. */
static inline void bb__conn_excuse(struct bb__conn *conn, uint64_t time)
{
    conn->body_began += time;
    conn->body_progress += time;
    conn->write_progress += time;
    conn->linger_began += time;
    if (conn->state != BB_CONN_SERVED && conn->unsent_since > 0) conn->unsent_since += time;
}

/* The socket is ready: reads input, and sends bytes that wait. events: a mask of enum bb__interest. */
enum bb__conn_next bb__conn_on_ready(struct bb__conn *conn, struct bb__conn_context *context,
                                     uint32_t events);

/* Parses bytes that are already in the buffer. */
enum bb__conn_next bb__conn_advance(struct bb__conn *conn, struct bb__conn_context *context);

/* The connection's timeout is over, and is not set any more. */
enum bb__conn_next bb__conn_on_timeout(struct bb__conn *conn, struct bb__conn_context *context);

/* Parses the connection's complete head into context->head again. False: the head is not valid in this
 * worker. */
bool bb__conn_parse_again(struct bb__conn *conn, struct bb__conn_context *context);

/* Notes whether the method is HEAD. context->head must be the connection's head. */
static inline void bb__conn_note_method(struct bb__conn *conn, const struct bb__conn_context *context)
{
    const struct bb_slice *method = &context->head.method;
    conn->head_method = method->at && method->len == 4 && memcmp(method->at, "HEAD", 4) == 0;
}

/* conn_fault.c */

/* Logs why the host never sees a request. error: errno, or 0. Returns the status to send. */
int bb__conn_report_fault(const struct bb__conn *conn, struct bb__conn_context *context, enum bb__fault fault,
                          int error);

/* SERVED: returns whether the client has closed the connection. If so, logs this, and the caller closes the
 * connection, too. */
bool bb__conn_check_client_gone(struct bb__conn *conn, struct bb__conn_context *context);

/* For the logs, as in nginx. It is never sent. */
#define BB_STATUS_CLIENT_GONE 499

/* conn_request.c */

/* Continues a connection that was passed on, or whose complete request has waited. If the client has closed
 * the connection, the request is not served. */
enum bb__conn_next bb__conn_resume(struct bb__conn *conn, struct bb__conn_context *context);

/* SERVED: fills in the request for the host. */
void bb__conn_fill_request(struct bb__conn *conn, struct bb__conn_context *context,
                           struct bb_request *request);

/* In conn_proxy_time.c: returns us since a trusted proxy got the request. context->head must be its head,
 * with has_start. Returns 0 if no trusted proxy has sent the time. */
uint64_t bb__conn_proxy_time(const struct bb__conn *conn, const struct bb__conn_context *context);

/* conn_send.c */

/* Returns whether no more response bytes may be kept in memory. */
static inline bool bb__conn_is_behind(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    size_t len = bb__buf_len(&conn->out);
    return bb__response_spool_len(&conn->response_spool) > 0 ||
           (len > 0 &&
            (len >= context->settings->response_buffer || bb__spool_memory_is_full(context->spool_budget)));
}

/* Updates the worker's total of response bytes in memory. */
void bb__conn_count_memory(struct bb__conn *conn, struct bb__conn_context *context);

/* Notes that `more` further bytes wait for the client. */
void bb__conn_note_owed(struct bb__conn *conn, struct bb__conn_context *context, uint64_t more);

/* Returns the bytes per second that the client has taken since bytes began to wait for it. Bytes in the
 * kernel's buffer do not count as taken, but BB_RATE_CREDIT does. */
uint64_t bb__conn_taking_rate(const struct bb__conn *conn, uint64_t now);

/* Returns whether the client is slower than min_body_rate. False during the first BB_RATE_AFTER ms.
 * BB_RATE_CREDIT counts as taken. */
bool bb__conn_takes_too_slowly(const struct bb__conn *conn, const struct bb__conn_context *context);

/* Sends the bytes that wait. BB_OK: all of them; BB_AGAIN: the socket is full, or it is the turn of other
 * connections; BB_EGONE, also if bytes cannot be read back from the file. */
int bb__conn_flush(struct bb__conn *conn, struct bb__conn_context *context);

/* Enters FLUSH, or stays there after the client has taken something. write_timeout begins again. */
enum bb__conn_next bb__conn_await_taking(struct bb__conn *conn, struct bb__conn_context *context);

/* FLUSH: checks whether the client takes something. False: the client has taken nothing for write_timeout. */
bool bb__conn_check_taking(struct bb__conn *conn, struct bb__conn_context *context);

/* The whole response is sent: enters the next state, and returns the next step. */
enum bb__conn_next bb__conn_after_response(struct bb__conn *conn, struct bb__conn_context *context);

/* SERVED, and the whole response is sent or in `out`: drops the request. conn->keep_alive tells whether the
 * connection ends when all is sent. */
enum bb__conn_next bb__conn_response_done(struct bb__conn *conn, struct bb__conn_context *context);

/* LINGER: reads input and drops it. */
enum bb__conn_next bb__conn_on_lingering(struct bb__conn *conn, struct bb__conn_context *context);

/* Sends "100 Continue" (RFC 9110 10.1.1). BB_OK or BB_EGONE. */
int bb__conn_say_continue(struct bb__conn *conn, struct bb__conn_context *context);

/* conn_reject.c */

/* Sends an error response to a request that the host never sees. Then closes so that the client can read
 * the response (RFC 9112 9.6). Bytes behind the request are never parsed as a request. */
enum bb__conn_next bb__conn_reject(struct bb__conn *conn, struct bb__conn_context *context, int status);
enum bb__conn_next bb__conn_reject_with(struct bb__conn *conn, struct bb__conn_context *context,
                                        const struct bb__h1_error *error);

/* In conn_admission.c: returns us, since when the complete request waits; 0: no request has to wait. */
uint64_t bb__conn_waits_since(const struct bb__conn *conn);

/* In conn_log.c: writes the access log's line while the request is still in `in`. */
void bb__conn_log_rejected(const struct bb__conn *conn, struct bb__conn_context *context,
                           const struct bb__h1_error *error);

/* In conn_log.c: writes the line of a request that is past request_timeout. duration: us, since the request
 * had come. */
void bb__conn_log_overdue(const struct bb__conn *conn, struct bb__conn_context *context,
                          const struct bb__h1_error *error, const struct bb_request *request,
                          uint64_t duration);

#endif
