/* worker.h: the data that the lanes of one process share: settings, listeners, budgets, and whether the
 * worker drains (ends gracefully). The worker outlives its lanes, and all lanes read it. Fields that change
 * are atomic, or the lock guards them. The host is the program that calls the core. A set is the connections
 * of one lane, together with their poller. */
#ifndef BB_WORKER_H
#define BB_WORKER_H

#include "base/tuning.h"
#include "conn/conn_admission.h"
#include "conn/conn_report.h"
#include "files/file_cache.h"
#include "log/log_format.h"
#include "metrics/metrics.h"
#include "sockets/descriptor.h"
#include "system/log_sink.h"
#include "system/scoreboard.h"
#include "system/shared_queue.h"
#include "worker/io_link.h"
#include "worker/worker_intake.h"

#include <pthread.h>

#define BB_LISTENERS_MAX 64

/* A drain accepts at most this many connections from one accept queue, because clients may connect faster
 * than the worker accepts. */
#define BB_TAKEN_MAX 16384

struct bb__listener {
    struct bb__source source;
    int fd;
    uint8_t number;
    bool tcp;
    bool useless; /* accept4 will always fail; the worker's lock guards this field */
};

/* A connection that the drain has accepted and that no lane has taken yet. */
struct bb__queued {
    struct bb__queued *next;
    const struct bb__listener *listener;
    uint64_t ready_at; /* us, when the connection was accepted */
    int fd;
    struct bb__peer peer;
};

/* The connection of an ended stream (a response that outlives its request), which is to linger. */
struct bb__lingering {
    struct bb__lingering *next;
    int fd;
    uint8_t listener; /* its number */
    struct bb__peer peer;
};

/* The state of all listeners of a worker. */
enum bb__listeners_state {
    /* A drain leaves the listeners open while no descriptor is free to accept their queued connections. */
    BB_LISTENERS_OPEN,
    /* Each listener is closed, and its descriptor is now a copy of drain.wakeup.fd in struct bb_worker.
     * If a lane still calls accept4 with such a descriptor, accept4 fails. */
    BB_LISTENERS_CLOSED,
    BB_LISTENERS_GIVEN_BACK, /* no lane uses these descriptors any more, and they are closed */
};

/* The state of the requests that are past request_timeout. */
enum bb__overdue {
    BB_OVERDUE_NONE,
    BB_OVERDUE_NEW,   /* the host has not called bb_worker_take_overdue() yet */
    BB_OVERDUE_TAKEN, /* the host logs the requests */
    BB_OVERDUE_LOGGED,
};

struct bb_worker {
    struct bb_settings settings;
    struct bb__trusted_proxies trusted; /* parsed settings.trusted_proxies */
    struct bb__spool_budget spool_budget;
    struct bb__conn_admission admission;
    struct bb__file_cache *files;     /* of `public`; NULL: none */
    struct bb__io_link *io;           /* link to the I/O thread; NULL: there is none */
    struct bb_scoreboard *scoreboard; /* NULL: there is none */
    struct {
        struct bb__counts counts;    /* of the threads that are no lanes */
        unsigned number, generation; /* see bb_worker_metrics() */
    } metrics;
    int pid;
    unsigned process_generation; /* value of bb__process_generation when the worker was made */
    /* Guards the fields listen, lanes, aside, accept_paused, queued, lingering and events. A thread also
     * needs this lock when it adds the listeners and the shared queue to a set, or removes them from a set.
     */
    pthread_mutex_t lock;

    struct {
        struct bb__listener listeners[BB_LISTENERS_MAX];
        uint16_t ports[BB_LISTENERS_MAX];     /* by listener number; 0: no port */
        uint64_t addresses[BB_LISTENERS_MAX]; /* by listener number: bb__sock_address() */
        uint64_t numbers; /* one bit for each listener number, also for closed listeners */
        int count;        /* open and closed listeners; constant once a lane exists, so lanes need no lock */
        atomic_int lane_count; /* lanes that use the listeners; the last lane of a drain closes them */
        /* enum bb__listeners_state. Atomic, because a lane reads this field without the lock after accept4
         * has failed. */
        atomic_int state;
    } listen;

    struct {
        struct bb__shared_queue queue; /* a set that watches the listeners also watches this queue */
        struct bb__source source;
    } shared;

    struct {                              /* how many connections the worker may have */
        int reserve;                      /* descriptors from this number on are left to the host */
        int lent;                         /* but files that are sent may have those below this number */
        atomic_uint_fast64_t fits;        /* connections whose descriptors stay below `reserve`; 0: unknown */
        atomic_uint_fast64_t limit;       /* minimum of max_connections and `fits`; UINT64_MAX: no limit */
        atomic_uint_fast64_t connections; /* connections of all lanes */
        atomic_uint_fast64_t ended_slow;  /* ms, when a slow client was last disconnected to make room */
        /* Descriptors have run out since the last successful accept4: EMFILE, or a message was lost. */
        atomic_bool exhausted;
        /* ms, when accept4 first failed with EMFILE while the worker had no connection. 0: the last accept4
         * did not fail in this way. */
        atomic_uint_fast64_t starved;
    } room;

    struct {                     /* limits on the time of requests */
        bool counts_time;        /* a setting needs the I/O thread during each request of a lane */
        atomic_int overdue;      /* enum bb__overdue */
        atomic_bool active;      /* set by bb_worker_watch() */
        atomic_bool stuck;       /* the requests of all lanes are past request_timeout */
        struct bb__wakeup alarm; /* bb_worker_alarm() */
    } limits;

    struct {
        int fd; /* a socket to the parent; -1: there is no parent */
        bool host_logs;
        char bytes[BB_TELLS];
    } parent;

    struct { /* the access log, if there is one */
        struct bb__log_format format;
        struct bb__log_sink sink;
    } log;

    struct {
        atomic_uint_fast64_t began; /* ms, when the drain began; 0: not yet */
        atomic_int queue;           /* enum bb_queue */
        struct bb__source source;
        struct bb__wakeup wakeup; /* each lane watches it; raised when the drain has begun */
    } drain;

    struct bb__intake *lanes;           /* all lanes */
    _Atomic(struct bb__intake *) aside; /* the lane that works out of band; NULL: none */
    atomic_bool accept_paused; /* no set watches the listeners and the shared queue, because a lane is busy
                                  and another process is idle */
    atomic_uint lane_count;
    atomic_uint lanes_woken; /* woken lanes that wait for the host's lock */

    struct {                             /* connections that the drain has accepted */
        struct bb__queued *first, *last; /* the oldest first */
        atomic_uint count;
    } queued;

    struct bb__lingering *lingering; /* connections of ended streams that nobody has taken yet */
    struct bb__event_ring events;    /* the I/O thread's events that neither a lane nor the host has taken */
    atomic_bool has_news;            /* `lingering` or `events` is not empty */
    struct bb__reports reports;
};

/* Counts the forks from the first process to this one. */
extern atomic_uint bb__process_generation;

/* True in a child that was forked after the worker was made. The worker's descriptors and epoll sets belong
 * to the parent and must not be used. */
static inline bool bb__worker_is_inert(const struct bb_worker *worker)
{
    return worker->process_generation != atomic_load_explicit(&bb__process_generation, memory_order_relaxed);
}

/* Sets room.fits. Sets room.limit to the smaller of room.fits and max_connections. fits: 0: unknown. */
void bb__worker_set_room(struct bb_worker *worker, uint64_t fits);

static inline bool bb__worker_has_closed(const struct bb_worker *worker)
{
    return atomic_load(&worker->listen.state) != BB_LISTENERS_OPEN;
}

/* Returns how many listeners are open, including useless ones. The caller has the lock. */
static inline int bb__worker_count_open(const struct bb_worker *worker)
{
    return bb__worker_has_closed(worker) ? 0 : worker->listen.count;
}

static inline bool bb__worker_is_over_limit(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->room.connections, memory_order_relaxed) >
           atomic_load_explicit(&worker->room.limit, memory_order_relaxed);
}

static inline bool bb__worker_drains(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->drain.began, memory_order_relaxed) != 0;
}

static inline bool bb__worker_has_room(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->room.connections, memory_order_relaxed) <
           atomic_load_explicit(&worker->room.limit, memory_order_relaxed);
}

/* Closes descriptors of files of `public` that no connection needs. Returns whether there were any. */
bool bb__worker_close_files(struct bb_worker *worker);

/* As bb__sock_accept(). If no descriptor is free, files of `public` make room. */
int bb__worker_accept(struct bb_worker *worker, const struct bb__listener *listener, int *fd,
                      struct bb__peer *peer);

/* *newest: the descriptor of the newest connection, whose number nobody else knows yet. Files of `public`
 * make room for it: then it gets a lower number. Returns true if *newest is below room.reserve. Otherwise
 * returns false, and sets room.fits to the number of the worker's connections minus 1 (at least 1). A known
 * room.fits is never raised. If *newest is below room.reserve and the worker has at most room.fits / 2
 * connections, room.fits becomes 0 (unknown) again. */
static inline bool bb__worker_find_room(struct bb_worker *worker, int *newest)
{
    uint64_t count = atomic_load_explicit(&worker->room.connections, memory_order_relaxed);
    uint64_t found = atomic_load_explicit(&worker->room.fits, memory_order_relaxed);
    if (*newest >= worker->room.reserve && bb__worker_close_files(worker))
        *newest = bb__descriptor_move_down(*newest, worker->room.reserve);
    if (*newest >= worker->room.reserve && (found == 0 || count <= found))
        bb__worker_set_room(worker, count > 1 ? count - 1 : 1);
    else if (*newest >= worker->room.reserve)
        return false;
    else if (found > 0 && count <= found / 2)
        bb__worker_set_room(worker, 0);
    return *newest < worker->room.reserve;
}

/* Whether a descriptor below room.reserve is free. If descriptors have run out before, asks the kernel each
 * time, because the host may have closed some. */
bool bb__worker_has_descriptor(struct bb_worker *worker);

/* Whether there are free descriptors for all descriptors of the next message, also from room.reserve on. If
 * one has no place, the kernel closes the connection in the message. */
bool bb__worker_has_places(const struct bb_worker *worker);

/* In conn_context.c. While the caller works on a set, context->timeouts must point to the timeouts of this
 * set. BB_OK or BB_ENOMEM. Call bb__conn_context_close() in both cases. */
int bb__conn_context_open(struct bb__conn_context *context, struct bb_worker *worker);
void bb__conn_context_close(struct bb__conn_context *context);

/* Accepts all connections from the listeners' accept queues, and closes the listeners. The lanes take the
 * accepted connections later. Returns 0 if the listeners are closed, otherwise an errno. After an errno all
 * listeners are still open. */
int bb__worker_take_queues(struct bb_worker *worker);

/* Returns a connection that the drain has accepted, or NULL. The caller frees it. */
struct bb__queued *bb__worker_take_queued(struct bb_worker *worker);

static inline bool bb__worker_has_queued(struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->queued.count, memory_order_acquire) > 0;
}

/* In worker_linger.c. */

/* Passes the connection of an ended stream to a lane, which lets it linger. False: no lane is left, or no
 * memory; then the caller still owns fd. Any thread. */
bool bb__worker_let_linger(struct bb_worker *worker, int fd, uint8_t listener, const struct bb__peer *peer);

/* Returns a list of all connections that were passed on in this way, or NULL. The caller frees them. */
struct bb__lingering *bb__worker_take_lingering(struct bb_worker *worker);

/* Called by a lane that has drained. bb__worker_let_linger() does not choose this lane any more. False: a
 * connection has just been passed on; the lane is woken, and looks again. */
bool bb__worker_lane_ends(struct bb_worker *worker, struct bb__intake *lane);

/* Sets has_news. The caller has the lock. */
void bb__worker_note_news(struct bb_worker *worker);

/* Returns whether a connection is in a listener's queue, or a message is in the shared queue. The caller has
 * the lock. */
bool bb__worker_is_awaited(struct bb_worker *worker);

/* Returns whether a request waits in the shared queue, or a connection waits in a listener's queue. A message
 * without a request (bb__worker_nudge()) does not count. The caller has the lock. */
bool bb__worker_has_waiting(struct bb_worker *worker);

/* If a connection or a message waits, wakes a sleeping lane of any process. This is needed because the kernel
 * may have woken only a lane that is busy now. The caller has the lock. */
void bb__worker_nudge(struct bb_worker *worker);

/* In worker_drain.c: returns whether the worker drains and leaves its connections to other workers. These are
 * running workers, or the worker that will replace this worker. */
bool bb__worker_hands_over(const struct bb_worker *worker);

/* Returns whether the worker drains and keeps its connections, because it may be the last worker. The last
 * worker also serves the connections that other workers have passed on. */
static inline bool bb__worker_is_last(const struct bb_worker *worker)
{
    return bb__worker_drains(worker) && !bb__worker_hands_over(worker);
}

static inline bool bb__worker_has_paused_accepting(const struct bb_worker *worker)
{
    return atomic_load_explicit(&worker->accept_paused, memory_order_relaxed) || worker->aside;
}

/* Moves the I/O thread's events from its ring to the worker until the worker's ring is full. */
void bb__worker_give_events(struct bb_worker *worker, struct bb__event_ring *ring);

/* Moves the worker's events to a lane's ring until the ring is full. */
void bb__worker_take_events(struct bb_worker *worker, struct bb__event_ring *ring);

/* Sends the byte for `what` to the parent, if there is one. */
void bb__worker_tell_parent(const struct bb_worker *worker, enum bb_tell what);

/* Closes the listeners, or the copies of drain.wakeup.fd that have replaced the listeners. A second call does
 * nothing. The caller has the lock, or there are no lanes any more. */
void bb__worker_give_numbers_back(struct bb_worker *worker);

/* These two functions count the lanes that use the listeners. When the last lane of a draining worker stops,
 * bb__worker_give_numbers_back() is called. */
void bb__worker_lane_listens(struct bb_worker *worker);
void bb__worker_lane_stops(struct bb_worker *worker);

#endif
