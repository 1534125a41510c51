/* conn.h: one connection and what its client and we still owe each other. Reads and writes its socket, never
 * waits and never touches the poller: every call says what is to happen next, and `want` what to wait for.
 * Used by lane and I/O thread.
 *
 *            bytes                        whole, body to come
 *   (new) ---------> HEAD ------------------------------------> BODY
 *                    ^  |  \  whole, no body to come           /  | \
 *                    |  |   +------------------> SERVED <-----+   |  \
 *       kept alive,  |  |  refused                 |  whole       |   |
 *       nothing left |  +-----------+              | answered     |   | refused, too slow
 *       to send      |              v              |              |   |
 *                    +----------- FLUSH <----------+              |   |
 *                    |    the client takes its answer <-----------|---+
 *                    |              |                             |
 *                    v              v (refused, or more came)     v  gone
 *                 (HEAD)         LINGER ---------------------> (closed)
 */
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

/* The first member of whatever a poller's tag points at. */
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
    BB_CONN_BODY,   /* the head is whole and waits in `in`; the body goes to the spool */
    BB_CONN_SERVED, /* the host has the request */
    BB_CONN_FLUSH,  /* answered; `out` holds what the client has not taken */
    BB_CONN_LINGER, /* answered and half closed; what still comes is thrown away */
};

/* What the caller does next. */
enum bb__conn_next {
    BB_CONN_WAIT,    /* wait for conn->want or the deadline */
    BB_CONN_REQUEST, /* context->head and the body are complete: serve it */
    BB_CONN_AGAIN,   /* bytes of another request are in the buffer: bb__conn_advance() when it is its turn */
    BB_CONN_CLOSE,   /* close it */
};

struct bb__conn {
    struct bb__source source;
    int fd;
    uint8_t state;       /* enum bb__conn_state */
    uint8_t listener;    /* where it was accepted */
    bool tcp;            /* else a unix socket */
    bool keep_alive;     /* after FLUSH: HEAD again; else the connection ends */
    bool linger;         /* it ends by LINGER: the client may still be sending */
    bool large;          /* the answer did not leave in one small send */
    bool head_method;    /* the request is a HEAD */
    bool body_in_buffer; /* the whole body stands behind the head in `in` */
    bool registered;     /* the poller knows it (the lane's) */
    bool useless;        /* it was passed on, and its request cannot be served here */
    bool moved;          /* it was another process's, whose children may have duplicates of its descriptor */
    uint32_t want;       /* enum bb__interest: what to wait for */
    uint32_t interest;   /* what the poller waits for (the lane's) */

    struct bb__timeout timeout;
    struct bb__conn *previous, *next; /* all connections of the lane (the lane's) */
    struct bb__conn *next_ready;      /* those with bytes in hand (the lane's) */
    bool is_ready;

    struct bb__buf in;  /* a head, then what came behind it */
    struct bb__buf out; /* what the socket has not taken; behind it: */
    struct bb__response_spool response_spool;
    size_t head_len;               /* of the request in hand */
    size_t head_seen, head_parsed; /* how far an incomplete head was looked at, and parsed */
    int untaken;                   /* bb__sock_untaken() when the client last took some of `out` */
    uint64_t served;               /* requests handed out */
    uint64_t ready_at;             /* us, since when its request could be served; 0: it is at once */
    uint64_t queued_at;            /* us, if it waits since later than that only (conn_admission.c) */
    uint64_t linger_began;         /* ms */
    uint64_t write_progress;       /* ms, when it was seen that the client had taken some of `out` */
    uint64_t owes_since;           /* ms, since when bytes of responses wait for the client; 0: none do */
    uint64_t owed;                 /* bytes that the client has had to take since then */
    size_t counted;                /* of them in memory, as the worker's total has it */

    struct bb__body body;
    struct bb__spool spool;
    uint64_t body_began, body_progress, body_received; /* ms, ms, bytes on the wire */

    char peer[BB_PEER_MAX];
};

static inline struct bb__conn *bb__conn_of_timeout(struct bb__timeout *timeout)
{
    return (struct bb__conn *)((char *)timeout - offsetof(struct bb__conn, timeout));
}

/* Bytes of answers that the socket has not taken: those in `out`, then those in `response spool`. */
static inline uint64_t bb__conn_owes(const struct bb__conn *conn)
{
    return bb__buf_len(&conn->out) + bb__response_spool_len(&conn->response_spool);
}

/* Whether there are any: a look at one number, with each request. */
static inline bool bb__conn_owes_some(const struct bb__conn *conn)
{
    return conn->owes_since > 0;
}

/* Others are served before its request. */
static inline void bb__conn_has_to_wait(struct bb__conn *conn)
{
    if (conn->ready_at == 0) conn->ready_at = bb__clock_us();
}

enum bb__conn_end {
    BB_CONN_END_CLOSE,
    BB_CONN_END_RESET,   /* the client must be able to tell that its answer is not whole */
    BB_CONN_END_ABANDON, /* in this process only: it is the parent's */
};

/* How it ends when it ends now. */
static inline enum bb__conn_end bb__conn_end_of(const struct bb__conn *conn)
{
    return bb__conn_owes(conn) > 0 ? BB_CONN_END_RESET : BB_CONN_END_CLOSE;
}

/* Why the host never sees a request, where the log is to say it: it is answered with 5xx, or nobody is there
 * to be answered. */
enum bb__fault {
    BB_FAULT_SPOOL_FULL,       /* SpoolMax */
    BB_FAULT_SPOOL_UNWRITABLE, /* the disk is full, or fails */
    BB_FAULT_SPOOL_NONE,       /* no memory, no file */
    BB_FAULT_UNKNOWN,
    BB_FAULT_VERSION,
    BB_FAULT_CLIENT_GONE,
    BB_FAULT_CROWDED,    /* MaxConnections, or no descriptors */
    BB_FAULT_QUEUE_FULL, /* MaxQueue */
    BB_FAULT_QUEUE_TIME, /* QueueTimeout */
    BB_FAULT_UNWATCHED,  /* epoll has no room for it */
    BB_FAULT_UNSENT,     /* it cannot be passed on */
    BB_FAULT_USELESS,    /* it was passed on by a worker with other listeners, limits or another version */
    BB_FAULTS,
};

struct bb__access_log;
struct bb__conn_admission;
struct bb__h1_error;

/* What a thread that minds connections has for all of them: a lane, or the I/O thread. */
struct bb__conn_context {
    const struct bb_settings *settings;
    const struct bb__trusted_proxies *trusted;
    struct bb__spool_budget *spool_budget;
    struct bb__head_limits head_limits;
    struct bb__field_names *names;
    struct bb_field *fields; /* head_limits.max_fields of them */
    struct bb_head head;     /* the last head that was parsed whole */
    struct bb__buf_pool buf_pool;
    char *scratch; /* BB_SCRATCH_SIZE: body bytes on their way to the spool, discarded bytes */
    struct bb__date date;
    struct bb__timeouts *timeouts; /* of the set whose connections are in hand */
    struct bb__event_ring events;
    struct bb__event_pace fault_events[BB_FAULTS];
    uint64_t now;                               /* bb__clock_ms() when the lane last looked */
    struct bb__access_log *log;                 /* NULL: none is kept */
    const struct bb__conn_admission *admission; /* NULL: whoever waits may do so */
    const uint16_t *ports;                      /* by listener; 0: it has none */
    const uint64_t *addresses;                  /* by listener: bb__sock_address() */
    const uint64_t *listeners; /* a bit for each of those there are; before the first lane more come */
    uint64_t read_at;          /* us, since when what is read now is here; 0: it is served at once */
    bool draining;
};

#define BB_SCRATCH_SIZE (64 * 1024)

/* A client is held to min_body_rate only after so many ms: the first bytes may sit behind a slow start. */
#define BB_RATE_AFTER 10000

/* Bytes that a client which reads may be behind min_body_rate: the kernel tells in steps of so many what it
 * took. */
#define BB_RATE_CREDIT (64 * 1024)

/* How long, and how often, a lane looks after connections that are not idle; ms. */
#define BB_LINGER_TIME   3000  /* since the client's last sign of life */
#define BB_LINGER_MAX    30000 /* whatever it does */
#define BB_BODY_TICK_MAX 1000
#define BB_WRITE_TICK    10000 /* where no write_timeout says how often */
static inline uint64_t bb__conn_write_tick(uint64_t write_timeout)
{
    return write_timeout == 0 ? BB_WRITE_TICK : write_timeout < 8 ? 1 : write_timeout / 8;
}

/* Sets the durations of all deadlines. */
void bb__conn_set_durations(struct bb__timeouts *timeouts, const struct bb_settings *settings);

/* Takes over fd. Returns NULL when out of memory (fd stays the caller's). */
struct bb__conn *bb__conn_new(int fd, struct bb__conn_context *context);

/* Frees everything and ends the connection. */
void bb__conn_free(struct bb__conn *conn, struct bb__conn_context *context, enum bb__conn_end end);

/* For so many ms nobody could look at it: they are not the client's. Deadlines are the caller's. */
static inline void bb__conn_excuse(struct bb__conn *conn, uint64_t time)
{
    conn->body_began += time;
    conn->body_progress += time;
    conn->write_progress += time;
    conn->linger_began += time;
    if (conn->state != BB_CONN_SERVED && conn->owes_since > 0) conn->owes_since += time;
}

/* The socket is ready: read what came, write what is owed. events: a mask of enum bb__interest. */
enum bb__conn_next bb__conn_on_ready(struct bb__conn *conn, struct bb__conn_context *context,
                                     uint32_t events);

/* Parses what is in the buffer already. */
enum bb__conn_next bb__conn_advance(struct bb__conn *conn, struct bb__conn_context *context);

/* The deadline is over; it is not set any more. */
enum bb__conn_next bb__conn_on_timeout(struct bb__conn *conn, struct bb__conn_context *context);

/* Makes context->head that of a request whose head is whole. False: it is none. */
bool bb__conn_parse_again(struct bb__conn *conn, struct bb__conn_context *context);

/* context->head is its head. */
static inline void bb__conn_note_method(struct bb__conn *conn, const struct bb__conn_context *context)
{
    const struct bb_slice *method = &context->head.method;
    conn->head_method = method->at && method->len == 4 && memcmp(method->at, "HEAD", 4) == 0;
}

/* conn_fault.c */

/* Has the host log why it never sees a request; error: errno, or 0. Returns the status to answer. */
int bb__conn_report_fault(const struct bb__conn *conn, struct bb__conn_context *context, enum bb__fault fault,
                          int error);

/* SERVED: nobody waits for the answer any more; the log hears of it. Close it. */
bool bb__conn_check_client_gone(struct bb__conn *conn, struct bb__conn_context *context);

/* For the logs, as those of nginx have it. No answer. */
#define BB_STATUS_CLIENT_GONE 499

/* conn_request.c */

/* Goes on with one that has come from elsewhere, or whose request nobody could serve when it was complete, if
 * its client still waits. */
enum bb__conn_next bb__conn_resume(struct bb__conn *conn, struct bb__conn_context *context);

/* SERVED: fills in what the host sees. */
void bb__conn_fill_request(struct bb__conn *conn, struct bb__conn_context *context,
                           struct bb_request *request);

/* conn_proxy_time.c: us, since the proxy has had a request that has_start, whose head is in the context; 0:
 * there is nobody to be believed who tells. */
uint64_t bb__conn_proxy_time(const struct bb__conn *conn, const struct bb__conn_context *context);

/* conn_send.c: the sending side */

/* Whether no more is to be kept in memory. */
static inline bool bb__conn_is_behind(const struct bb__conn *conn, const struct bb__conn_context *context)
{
    size_t len = bb__buf_len(&conn->out);
    return bb__response_spool_len(&conn->response_spool) > 0 ||
           (len > 0 &&
            (len >= context->settings->response_buffer || bb__spool_memory_is_full(context->spool_budget)));
}

/* Tells the worker's total how much of it is in memory now. */
void bb__conn_count_memory(struct bb__conn *conn, struct bb__conn_context *context);

/* So many bytes more wait for the client. */
void bb__conn_note_owed(struct bb__conn *conn, struct bb__conn_context *context, uint64_t more);

/* Bytes per second that the client has taken since it has had to take some; of the kernel's buffer as well.
 * BB_RATE_CREDIT counts as taken. */
uint64_t bb__conn_taking_rate(const struct bb__conn *conn, uint64_t now);

/* Whether it is slower than min_body_rate, but for the first seconds, and for bytes that only the kernel
 * knows of. */
bool bb__conn_takes_too_slowly(const struct bb__conn *conn, const struct bb__conn_context *context);

/* Sends what is kept. BB_OK: all of it; BB_AGAIN: the socket is full, or it was much; BB_EGONE, also when it
 * cannot be read again. */
int bb__conn_flush(struct bb__conn *conn, struct bb__conn_context *context);

/* FLUSH: the client, which has taken something just now, has write_timeout to do so again. */
enum bb__conn_next bb__conn_await_taking(struct bb__conn *conn, struct bb__conn_context *context);

/* FLUSH: looks whether it does. False: it has taken nothing for write_timeout. */
bool bb__conn_is_taking(struct bb__conn *conn, struct bb__conn_context *context);

/* FLUSH, or an answer that is sent already: what follows once `out` is empty. */
enum bb__conn_next bb__conn_after_response(struct bb__conn *conn, struct bb__conn_context *context);

/* SERVED, and the whole answer is sent or in `out`: forgets the request, goes on as conn->keep_alive says. */
enum bb__conn_next bb__conn_response_done(struct bb__conn *conn, struct bb__conn_context *context);

/* LINGER: reads what came, and throws it away. */
enum bb__conn_next bb__conn_on_lingering(struct bb__conn *conn, struct bb__conn_context *context);

/* "100 Continue", RFC 9110 10.1.1. BB_OK or BB_EGONE. */
int bb__conn_say_continue(struct bb__conn *conn, struct bb__conn_context *context);

/* conn_reject.c */

/* Answers a request that the host never sees, then closes so that the client can read the answer (RFC
 * 9112 9.6). Bytes behind it are never a request. */
enum bb__conn_next bb__conn_reject(struct bb__conn *conn, struct bb__conn_context *context, int status);
enum bb__conn_next bb__conn_reject_with(struct bb__conn *conn, struct bb__conn_context *context,
                                        const struct bb__h1_error *error);

/* conn_admission.c: us, since when its complete request waits; 0: it has none, or nobody asks. */
uint64_t bb__conn_waits_since(const struct bb__conn *conn);

/* conn_log.c: tells the access log, while what came is still in `in`. */
void bb__conn_log_rejected(const struct bb__conn *conn, struct bb__conn_context *context,
                           const struct bb__h1_error *error);

/* conn_log.c: the same of one that the host has had for too long. duration: us, since it had come. */
void bb__conn_log_overdue(const struct bb__conn *conn, struct bb__conn_context *context,
                          const struct bb__h1_error *error, const struct bb_request *request,
                          uint64_t duration);

#endif
