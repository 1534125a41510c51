/* lane.h: a lane is one thread of the host (the program that calls the core: Ruby). It has a set of
 * connections and a current request. Used by the files of lane/, and by the I/O thread, which takes the set
 * while the lane is busy. */
#ifndef BB_LANE_H
#define BB_LANE_H

#include "base/tuning.h"
#include "conn/conn.h"
#include "http/h1_reply.h"
#include "lane/conn_set.h"
#include "lane/reply.h"
#include "metrics/sample.h"
#include "system/access_log.h"
#include "system/set_owner.h"
#include "worker/worker.h"

/* ms until the next attempt, if the shared queue has no room. */
#define BB_RETRY 10

/* The next step of a lane that has taken its set back. */
enum bb__then {
    BB_THEN_NOTHING,   /* the lane does not wait for its set */
    BB_THEN_GO_ON,     /* the response is complete: keep or close the connection */
    BB_THEN_CLOSE,     /* the I/O thread has answered: close the connection */
    BB_THEN_RESET,     /* the response is incomplete: reset the connection */
    BB_THEN_REJECT,    /* the request's body is rejected: send the error response */
    BB_THEN_FORGET,    /* the connection has left the lane: close only the descriptor */
    BB_THEN_STEP_BACK, /* see bb_lane_step_back() */
    BB_THEN_WAKE,      /* the lane was woken, and its thread waits for the host's global lock */
    BB_THEN_LOOK,      /* the lane was woken, and its thread has the lock: only look at the events */
};

struct bb_lane {
    struct bb__intake intake; /* the part that the worker uses */
    struct bb_worker *worker;
    struct bb__conn_context context;
    struct bb__conn_set set;
    struct bb__owner owner; /* the owner of the set: the lane or the I/O thread */
    struct bb__source wake_source;
    bool was_added; /* to the worker's list */

    struct bb__conn *current; /* the connection whose request the host has; NULL: none */
    struct bb_request request;
    struct bb__lane_reply reply;
    atomic_uint response; /* enum bb__response_state */
    uint64_t handed_out;  /* ms, when the host got the current request */
    bool attends;         /* an option needs attend() before the host gets a request */

    struct bb__sample sample; /* the times of its requests */

    struct {                    /* lane.c: which connection is next */
        struct bb__conn *again; /* the connection served last, if its buffer has more bytes */
        struct bb__conn *found; /* bb_lane_wait() has found its request */
        unsigned in_a_row;      /* responses in a row on one connection */
        bool busy;              /* the last look found events, so the next look probably finds some, too */
        bool looked;            /* the lane has looked at the poller since it handed out the last request */
        bool waiting_turn;      /* from_waiting() is next, because the last request came from another place */
        int last_source;        /* lane_source.c: place() of the source served last */
        bool pauses;            /* the lane has sent many files: the host is next */
        unsigned files;         /* context.files_sent when the lane began to look for a request */
        uint64_t files_since;   /* us, when the lane sent the first of these files; 0: none yet */
    } pick;

    struct {            /* lane_accept.c, lane_watch.c */
        bool listening; /* the listeners are in the set, or will be after a pause */
        bool paused;    /* the listeners are out of the set until there is room, or until `resume` */
        bool sweeps;    /* after a pause: accepts without another pause until the accept queue is empty */
        bool try_more;  /* accepts more than one connection */
        unsigned count; /* connections accepted in this streak (in a row, from one accept queue) */
        unsigned last_streak;
        unsigned probe;
        uint64_t resume;                 /* ms */
        uint64_t left_since;             /* `since` of the first shared message at the last pause */
        const struct bb__listener *from; /* its accept queue may have more connections */
        const struct bb__listener *calm; /* its last accepted connection had not waited */
        uint64_t calm_at;                /* ms, when `calm` was set */
    } accept;

    struct {                   /* lane_turn.c */
        enum bb__then then;    /* the next step when the lane has its set again */
        unsigned not_alone;    /* requests that the I/O thread watches even if bb__lane_is_alone() is true */
        uint64_t wanted_since; /* us, when other threads began to wait for the host's lock; 0: none waits */
    } turn;

    struct {               /* lane_drain.c */
        bool handing_over; /* the shared queue had no room for some idle connections */
        bool standing_by;  /* the lane has no connection, and serves connections that other lanes pass on */
        uint64_t log_last; /* lane_log.c: ms, when the lane had drained; 0: more lines may come */
    } drain;

    struct {                   /* lane_canary.c */
        uint64_t avoids_until; /* ms; until then the set does not have the shared queue; 0: it may have it */
    } canary;

    struct {                              /* limit how often each kind of event is reported */
        struct bb__event_pace unnamed;    /* reply_file.c: files that were not sent */
        struct bb__event_pace exhausted;  /* no descriptors, no memory */
        struct bb__event_pace lost;       /* connections that were lost */
        struct bb__event_pace log_losses; /* lines of the access log that were lost */
    } paces;

    struct {           /* lane_spread.c: compares the lane's number of requests with the mean of all lanes */
        uint64_t own;  /* old requests of this lane, which the comparison leaves out */
        uint64_t all;  /* old requests of all lanes, which the comparison leaves out */
        unsigned look; /* connections that the lane accepts before the next comparison */
    } spread;

    struct {               /* lane_share.c */
        uint64_t crowded;  /* us, start of a series of looks with two or more events each; 0: no series */
        uint64_t began;    /* us, when the lane began to serve the events of the last look */
        unsigned requests; /* served since `began` */
        bool done;         /* bb__lane_share() has shared the requests of the last look */
        unsigned mean;     /* us, recent mean time of a request */
    } shares;

    struct {              /* the I/O thread's notes about the current request, and about the set it holds */
        unsigned word;    /* the value of owner.word at the last request that the I/O thread saw */
        uint64_t since;   /* us, when the I/O thread first saw that request */
        uint64_t due;     /* ms, when the next step with the set is due */
        bool has_request; /* false: the host does work out of band */
        bool labelled;    /* the scoreboard has the request's label */
        bool overdue;     /* the request is past request_timeout */
        bool untold;      /* bb_lane_take_overdue() has not returned true yet */
        bool unheard;     /* the I/O thread's poller does not report events of this set */
        bool warned;      /* the request is past request_timeout_soft; the time lock guards this */
        bool late;        /* bb_lane_take_late() has not returned true yet; the time lock guards this */
    } watched;

    struct {           /* lane_time.c: extra time for a request; the time lock guards it */
        unsigned word; /* the request, as in watched.word */
        uint64_t ms;   /* added to its limits */
    } extended;
};

/* Returns the lane that has this intake, or NULL for NULL. */
static inline struct bb_lane *bb__lane_of(struct bb__intake *intake)
{
    return (struct bb_lane *)intake; /* its first member */
}

/* The worker's lanes. The caller holds the worker's lock or the I/O thread's lock. */
static inline struct bb_lane *bb__first_lane(const struct bb_worker *worker)
{
    return bb__lane_of(worker->lanes);
}

static inline struct bb_lane *bb__next_lane(const struct bb_lane *lane)
{
    return bb__lane_of(lane->intake.next);
}

/* Returns the connection with the current request. NULL: there is no request, or this is a forked child. */
static inline struct bb__conn *bb__lane_current(const struct bb_lane *lane)
{
    return bb__worker_is_inert(lane->worker) ? NULL : lane->current;
}

/* Whether this event of the poller belongs to a listener or the shared queue. */
static inline bool bb__lane_is_source_event(const struct bb__poller_event *event)
{
    const struct bb__source *source = event->data.ptr;
    return source && (source->kind == BB_SOURCE_LISTENER || source->kind == BB_SOURCE_SHARED_QUEUE);
}

/* Whether the I/O thread has nothing to do for this lane: no other connection can wait for the lane, the
 * worker has no other lane, and there is no limit on the time of requests or on waiting requests. */
static inline bool bb__lane_is_alone(const struct bb_lane *lane)
{
    return lane->set.count <= (lane->current != NULL) && !lane->worker->limits.counts_time &&
           atomic_load_explicit(&lane->worker->lane_count, memory_order_relaxed) == 1 &&
           bb__batch_empty(&lane->set.batch) && !lane->accept.from;
}

/* See bb__conn_set_settle(). */
static inline bool bb__lane_settle(struct bb_lane *lane, struct bb__conn *conn, enum bb__conn_next next)
{
    return bb__conn_set_settle(&lane->set, &lane->context, conn, next);
}

/* Counts the current request as an error on the scoreboard, once. Used by the I/O thread as well. */
static inline void bb__lane_note_error(struct bb_lane *lane)
{
    if (!atomic_exchange(&lane->reply.is_error, true)) bb__scoreboard_note_error(lane->intake.slot);
}

/* Shows on the scoreboard why the current request holds the lane. */
static inline void bb__lane_hold(struct bb_lane *lane, enum bb_held held)
{
    const struct bb_head *head = &lane->request.head;
    if (lane->intake.slot) bb__scoreboard_hold(lane->intake.slot, held, head->method, head->path);
}

/* ---- lane_log.c: called only if there is an access log ---- */

void bb__lane_log_idle(struct bb_lane *lane);              /* the lane has nothing to do */
void bb__lane_log_begin(struct bb_lane *lane);             /* the host is about to get the request */
void bb__lane_log_head(struct bb_lane *lane);              /* the head of the response is made */
void bb__lane_log_end(struct bb_lane *lane, bool aborted); /* the host is done with the request */
void bb__lane_log_flush(struct bb_lane *lane);
void bb__lane_log_tick(struct bb_lane *lane); /* call it from time to time */

/* Called when the lane has drained (ended gracefully). Writes the last lines of the log. False: the target
 * has not taken them yet. */
bool bb__lane_log_last(struct bb_lane *lane);

/* Adds an event for lost lines. Used by the I/O thread as well. */
void bb__log_tell_losses(struct bb__conn_context *context, struct bb__event_pace *pace);

/* ---- lane_watch.c: the sources, which are the listeners and the shared queue, in the lane's set ---- */

void bb__lane_watch_sources(struct bb_lane *lane);
void bb__lane_unwatch_sources(struct bb_lane *lane);

/* Called if there is no room for another connection. Takes the sources out of the set for a while. */
void bb__lane_pause(struct bb_lane *lane);

/* Returns the time (ms) when the pause is over. */
uint64_t bb__lane_resumes(const struct bb_lane *lane);

/* Takes the sources out of the set and adds them again. The poller then reports connections and messages that
 * are already queued, and the kernel wakes other lanes before this lane. */
void bb__lane_rescan(struct bb_lane *lane);

/* Adds the sources, and unlocks the worker's lock, which the caller holds. If there is no room for all
 * sources, the lane pauses. */
void bb__lane_watch_and_unlock(struct bb_lane *lane);

/* Takes the shared queue out of the set for BB_AVOID_TIME (ms), because a message in it is for the lanes of
 * another group (canary.h). */
#define BB_AVOID_TIME 10
void bb__lane_avoid_shared_queue(struct bb_lane *lane);
void bb__lane_end_avoiding(struct bb_lane *lane);

/* Watches the shared queue while the lane drains. */
void bb__lane_watch_shared_queue(struct bb_lane *lane);

/* ---- lane_accept.c ---- */

void bb__lane_listen(struct bb_lane *lane);
void bb__lane_resume_accepting(struct bb_lane *lane);
void bb__lane_stop_accepting(struct bb_lane *lane);

/* Handles an event of a listener. If other sources have events too (others_wait), accepts one connection, not
 * several. */
void bb__lane_on_listener(struct bb_lane *lane, const struct bb__listener *listener, uint32_t events,
                          bool others_wait);

/* bb__lane_accept() accepts a connection. bb__lane_adopt() takes a connection that was in an accept queue
 * when the worker began to drain. Both return the connection if it has a request, else NULL. */
struct bb__conn *bb__lane_accept(struct bb_lane *lane);
struct bb__conn *bb__lane_adopt(struct bb_lane *lane);

/* ---- lane_room.c ---- */

/* These functions may free a connection, but never `spared`, `newest` or `conn`, which the caller still uses.
 * NULL: the caller uses none. */

#define BB_PAUSE_TIME 100 /* ms without accepting if no connection can be closed for a new one */

void bb__lane_keep_to_limit(struct bb_lane *lane, const struct bb__conn *spared);
void bb__lane_note_exhausted(struct bb_lane *lane, int error);

/* Called for a new connection. If that is one connection too many, closes another connection or pauses. */
void bb__lane_make_room(struct bb_lane *lane, struct bb__conn *newest);

/* Ensures that descriptors are free for the connection in the next message and its files. False: too few are
 * free, and the lane pauses. */
bool bb__lane_ensure_descriptors(struct bb_lane *lane);

/* Closes the least useful idle connection. False: there is none. */
bool bb__lane_close_least_missed(struct bb_lane *lane, const struct bb__conn *spared);

/* Ends the connection of the slowest client, at most ten times in a second. False: the last time was less
 * than 100 ms ago, or no client is slow. */
bool bb__lane_end_slowest(struct bb_lane *lane, const struct bb__conn *spared);

/* Finds a place for a new connection. False: there is none. */
bool bb__lane_find_place(struct bb_lane *lane, const struct bb__conn *conn);

/* Answers with 503 and closes. */
void bb__lane_reject(struct bb_lane *lane, struct bb__conn *conn);

/* ---- lane_spread.c, lane_source.c ---- */

/* Called after a streak of accepts. If this lane has had more requests than other lanes, moves it to the end
 * of the kernel's wait queue. */
void bb__lane_take_turns(struct bb_lane *lane);

/* taken: the event of a source. The sources take turns. If the last look has found an event of a source whose
 * turn comes earlier, handles that event now and `taken` later. Returns a connection that has a request, or
 * NULL. */
struct bb__conn *bb__lane_take_source(struct bb_lane *lane, struct bb__poller_event *taken);

/* ---- lane_turn.c: the owner of the set while the host has a request ---- */

/* Called when the host gets a request. The I/O thread may now take the set. */
void bb__lane_release_set(struct bb_lane *lane);

/* Called when the lane has no request, but its thread may have to wait for the host's global lock. The I/O
 * thread may now take the set. */
void bb__lane_release_woken(struct bb_lane *lane);

/* Called when the host has ended its request. Takes the set back and does `then`. If the I/O thread is in the
 * middle of a step, bb__lane_try_reclaim() does both later. */
void bb__lane_reclaim_set(struct bb_lane *lane, enum bb__then then);

/* Completes a bb__lane_reclaim_set() that could not take the set back. False: the I/O thread still has the
 * set. bb__lane_await_set() waits until the I/O thread gives the set back, or bb_lane_wake() is called. */
bool bb__lane_try_reclaim(struct bb_lane *lane);
void bb__lane_await_set(struct bb_lane *lane);

/* Moves the response to its next state (enum bb__response_state). False: the I/O thread has taken the
 * connection over. */
bool bb__lane_claim_response(struct bb_lane *lane);

/* Call this before the first bytes and before the last bytes of the response are sent. False: see above.
 * Without request_timeout the I/O thread never takes the connection over. */
static inline bool bb__lane_may_send(struct bb_lane *lane)
{
    return lane->worker->settings.request_timeout == 0 || bb__lane_claim_response(lane);
}

/* Ends the sending of an incomplete response. False: the I/O thread has answered with 504. */
bool bb__lane_stop_sending(struct bb_lane *lane);

/* Whether the I/O thread has ended the response, by a 504 or a cut. For a lane that sends no more. */
static inline bool bb__lane_was_ended(const struct bb_lane *lane)
{
    return lane->worker->settings.request_timeout > 0 &&
           atomic_load_explicit(&lane->response, memory_order_relaxed) >= BB_RESPONSE_BY_IO;
}

/* Called before the lane waits for its client. Wakes the I/O thread, which checks whether other requests need
 * the lane. */
void bb__lane_announce_wait(struct bb_lane *lane);

/* Moves pick.again and pick.found to the end of the ready list, because the I/O thread may take the set. The
 * I/O thread calls this, too, for a set that it has just taken. */
void bb__lane_keep_again(struct bb_lane *lane);

/* lane_aside.c: puts the sources back into the set of a lane that is `unwatched`. */
void bb__lane_watch_again(struct bb_lane *lane);

/* ---- lane_share.c: one look finds several requests ---- */

/* Called after each look at the poller. */
void bb__lane_after_look(struct bb_lane *lane);

static inline bool bb__lane_is_to_share(const struct bb_lane *lane)
{
    return lane->shares.crowded > 0 && (!lane->shares.done || lane->shares.mean >= BB_SHARE_WORTH);
}

/* Passes some requests of the last look on to idle lanes. False: the lane must look again. */
bool bb__lane_share(struct bb_lane *lane);

/* Called while the worker has paused accepting. Passes on all requests that the last look found. False:
 * bb_lane_wait() must return to the host. */
bool bb__lane_pass_all(struct bb_lane *lane);

/* ---- lane_shared.c ---- */

/* Takes a connection from the shared queue. *served: the connection, if it has a request, else NULL. Returns
 * BB_OK, or BB_AGAIN if the queue is empty or no descriptor is free. */
int bb__lane_take_shared(struct bb_lane *lane, struct bb__conn **served);

/* Takes the connections of ended streams (worker_linger.c), and lets them linger. If the worker has no room
 * for them, closes them. The I/O thread calls this too, with its context, for a set that it has. */
void bb__lane_take_lingering(struct bb_lane *lane, struct bb__conn_context *context);

/* ---- lane_canary.c: the workers of a new release serve beside the former workers ---- */

/* The lane's group (canary.h). A lane that drains takes messages for any group. */
static inline enum bb__group bb__lane_group(const struct bb_lane *lane)
{
    return lane->context.draining
               ? BB_GROUP_ANY
               : bb__canary_group(lane->worker->scoreboard, lane->intake.slot, lane->context.now);
}

/* Watches a connection after a response, or passes it on to the other group (canary.h). */
void bb__lane_place(struct bb_lane *lane, struct bb__conn *conn);

/* ---- lane_drain.c ---- */

void bb__lane_begin_drain(struct bb_lane *lane);
void bb__lane_check_drain(struct bb_lane *lane); /* call it from time to time */

/* Shows on the scoreboard whether a connection of the lane may still send a request. */
void bb__lane_show_done(struct bb_lane *lane);

/* True: the lane has nothing left and may end. False: the lane still serves, or waits for requests of other
 * lanes. */
bool bb__lane_finish_drain(struct bb_lane *lane);

/* If this may be the last worker, takes a connection from the shared queue. False: none was taken. *conn: see
 * bb__lane_take_shared(). */
bool bb__lane_take_left(struct bb_lane *lane, struct bb__conn **conn);

#endif
