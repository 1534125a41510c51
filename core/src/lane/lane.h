/* lane.h: what lane.c, lane_accept.c and reply.c share: one host thread's set of connections and its current
 * request. */
#ifndef BB_LANE_H
#define BB_LANE_H

#include "base/tuning.h"
#include "conn/conn.h"
#include "http/h1_reply.h"
#include "lane/conn_set.h"
#include "system/access_log.h"
#include "system/set_owner.h"
#include "worker/worker.h"

/* ms, until what the shared queue had no room for is tried again. */
#define BB_RETRY 10

/* Whose the current connection is. Each step is one on an atomic word, so of lane and I/O thread one makes
 * it.
 *
 *                  the lane, before the first bytes leave     before the last ones
 *         OPEN ---------------------------------------> SENT ----------------------> ENDED
 *          |  \__________________________________________|___________________________^
 *          v  the I/O thread, as the host takes too long     v        all of it at once
 *        TAKEN                                          CUT
 *
 * What the lane replies to one that the I/O thread has is thrown away; of one that is whole the I/O thread
 * keeps off: the host may still be busy, but its client has what it wants, or will have. */
enum bb__response_state {
    BB_RESPONSE_OPEN,
    BB_RESPONSE_SENT,
    BB_RESPONSE_ENDED,
    BB_RESPONSE_BY_IO, /* answered with 504 */
    BB_RESPONSE_CUT,   /* shut down, so that the client can tell that it is not whole */
};

/* The reply under construction. */
struct bb__lane_reply {
    struct bb__h1_reply encoder;
    struct bb__buf staged;       /* head and small parts, on their way into one send */
    uint64_t write_progress;     /* ms, when the client last took something while bytes were pending */
    uint64_t body_length;        /* bytes of parts that were sent or copied */
    atomic_uint_fast64_t waited; /* ms, for the client to take something */
    atomic_uint_fast64_t
        taking;           /* 1 + bytes per second that it took when it was waited for last; 0: it never was */
    atomic_bool waits;    /* just now, and for longer than a moment */
    int64_t given;        /* bytes that the socket took */
    int64_t taken_before; /* bytes that the client had taken when the first wait began, or seemed to later */
    bool sent;            /* something may have reached the client */
    bool ended;           /* the body's end is in staged, or sent */
    int ended_as;         /* BB_OK or BB_ESHORT */
    bool spools;          /* the client is slow: what is too much for memory goes to a file */
    uint64_t moments;     /* us, for a client that might have been quick */
    int failed;           /* what bb_reply_write() failed with: bytes are missing, none may follow them */
};

/* What a lane does as soon as it has its set again. */
enum bb__then {
    BB_THEN_NOTHING,
    BB_THEN_GO_ON,
    BB_THEN_CLOSE,
    BB_THEN_RESET,
    BB_THEN_STEP_BACK,
    BB_THEN_WAKE, /* it has been woken: nobody may have taken its set */
    BB_THEN_LOOK,
};

struct bb_lane {
    struct bb__intake intake; /* what the worker knows of the lane */
    struct bb_worker *worker;
    struct bb__conn_context context;
    struct bb__conn_set set;
    struct bb__owner owner; /* who has the set: the lane or the I/O thread */
    struct bb__source wake_source;
    bool was_added; /* to the worker's list */

    struct bb__conn *current; /* the host has its request; NULL: the host has none */
    struct bb_request request;
    struct bb__lane_reply reply;
    atomic_uint response; /* enum bb__response_state */
    uint64_t handed_out;  /* ms, when the host got the current request */
    bool attends;         /* an option asks for something before the host gets a request: attend() */

    struct {                    /* lane.c: which connection is next */
        struct bb__conn *again; /* its next request is in its buffer already */
        unsigned in_a_row;      /* responses on the same connection */
        bool busy;         /* the last look found something, so another look is likely to find something */
        bool looked;       /* since the last request was handed out */
        bool waiting_turn; /* another connection was served while one waited that needs no look */
        int last_source;   /* lane_source.c: the place of the source that had its turn last */
    } pick;

    struct {            /* lane_accept.c, lane_watch.c */
        bool listening; /* the listeners are in the set, or will be again after a pause */
        bool
            paused; /* there is no room: the listeners are not in the set until there is, or until `resume` */
        bool sweeps; /* after a pause: the accept queue is emptied without another pause */
        bool try_more;
        unsigned count; /* connections accepted in this streak */
        unsigned last_streak;
        unsigned probe;
        uint64_t resume;                 /* ms */
        uint64_t crowded_until;          /* ms; until then responses end their connections, to make room */
        const struct bb__listener *from; /* had an event; its queue is not known to be empty */
        const struct bb__listener *calm; /* nobody waited in its queue, */
        uint64_t calm_at;                /* ms, when that was seen */
    } accept;

    struct {                /* lane_turn.c */
        enum bb__then then; /* what to do when the set is the lane's again: the I/O thread is in a step */
        unsigned told;      /* for so many more requests the I/O thread is told, even if the lane is alone */
        uint64_t
            wanted_since; /* us, when the lane saw that other threads wait for the host's lock; 0: none */
    } turn;

    struct {               /* lane_drain.c */
        bool handing_over; /* there are idle connections that the shared queue had no room for */
        bool standing_by;  /* the lane has no connection, and serves those that other lanes pass on */
        uint64_t log_last; /* lane_log.c: ms, since when no more lines come; 0: more may come */
    } drain;

    struct {                              /* how often the host is told of each kind of event */
        struct bb__event_pace exhausted;  /* no descriptors, no memory */
        struct bb__event_pace slow[2];    /* lane_room.c: readers, and senders, that were ended */
        struct bb__event_pace lost;       /* connections that were lost */
        struct bb__event_pace log_losses; /* lines of the access log that were lost */
    } paces;

    struct {           /* lane_spread.c */
        uint64_t own;  /* requests of this lane that do not count any more */
        uint64_t all;  /* requests of all lanes that do not count any more */
        unsigned look; /* connections until the next comparison */
    } spread;

    struct {               /* lane_share.c */
        uint64_t crowded;  /* us, since when each look has found several events; 0: the last look has not */
        uint64_t began;    /* us, when the lane began to serve what the last look found */
        unsigned requests; /* served since */
        bool done;         /* as many as should be were passed on of what that look found */
        unsigned mean;     /* us, that a request took of late */
    } shares;

    struct {              /* the I/O thread's notes about the current request, and about the set it holds */
        unsigned word;    /* of `owner`, when the I/O thread last saw a request of this lane */
        uint64_t since;   /* us, when the I/O thread saw that request first */
        uint64_t due;     /* ms, when something is to be done for the set */
        bool has_request; /* the host has a request; false: it does something out of band */
        bool labelled;    /* the scoreboard has the request's label */
        bool overdue;     /* the request is past request_timeout */
        bool untold;      /* and the host has not asked for that */
        bool unheard;     /* the I/O thread's poller does not report events of this set */
        bool warned; /* the request is past request_timeout_soft; the time lock guards this and the next */
        bool late;   /* and the host has yet to hear of that */
    } watched;

    struct {           /* lane_time.c: what the host has asked for; the time lock guards it */
        unsigned word; /* for which request; see `watched` */
        uint64_t ms;   /* on top of its limits */
    } extended;
};

/* The lane that an intake of the worker's list is part of; NULL: there is none. */
static inline struct bb_lane *bb__lane_of(struct bb__intake *intake)
{
    return (struct bb_lane *)intake; /* its first member */
}

/* The worker's lanes, one after the other. Whoever goes along them has one of the worker's locks. */
static inline struct bb_lane *bb__first_lane(const struct bb_worker *worker)
{
    return bb__lane_of(worker->lanes);
}

static inline struct bb_lane *bb__next_lane(const struct bb_lane *lane)
{
    return bb__lane_of(lane->intake.next);
}

/* Does what a connection's last step asks for. True when it has a request to serve. */
static inline bool bb__lane_settle(struct bb_lane *lane, struct bb__conn *conn, enum bb__conn_next next)
{
    return bb__conn_set_settle(&lane->set, &lane->context, conn, next);
}

/* lane_log.c: where there is an access log. The lane has nothing to do; the host is about to get the
 * request, has made the head of its answer, is done with it. */
void bb__lane_log_idle(struct bb_lane *lane);
void bb__lane_log_begin(struct bb_lane *lane);
void bb__lane_log_head(struct bb_lane *lane);
void bb__lane_log_end(struct bb_lane *lane, bool aborted);
void bb__lane_log_flush(struct bb_lane *lane);
void bb__lane_log_tick(struct bb_lane *lane); /* from time to time */
bool bb__lane_log_last(struct bb_lane *lane); /* nothing more will come. False: it is not written yet */

/* lane_log.c, for the I/O thread as well: tells of lines that were lost. */
void bb__log_tell_losses(struct bb__conn_context *context, struct bb__event_pace *pace);

/* lane_watch.c: which sources are in the set */
void bb__lane_watch_sources(struct bb_lane *lane);
void bb__lane_unwatch_sources(struct bb_lane *lane);
void bb__lane_pause(struct bb_lane *lane);             /* there is no room: no sources for a while */
uint64_t bb__lane_resumes(const struct bb_lane *lane); /* ms: when a pause is over */
void bb__lane_rescan(
    struct bb_lane *lane); /* what is there, of which the set may not know; others come first */

/* For the lane's own thread, which has the worker's lock: puts the sources there, or all of them out for a
 * while where there is no room. Unlocks. */
void bb__lane_watch_and_unlock(struct bb_lane *lane);

/* A lane that drains hears of connections that others pass on. */
void bb__lane_watch_shared_queue(struct bb_lane *lane);

/* lane_accept.c */
void bb__lane_listen(struct bb_lane *lane);
void bb__lane_on_listener(struct bb_lane *lane, const struct bb__listener *listener, uint32_t events,
                          bool others_wait); /* at other sources: takes one connection, not several */
struct bb__conn *bb__lane_accept(struct bb_lane *lane); /* one that has a request, or NULL */
struct bb__conn *bb__lane_adopt(struct bb_lane *lane);  /* the same, of those queued when the drain began */
void bb__lane_make_room(struct bb_lane *lane,
                        int newest);          /* for others, if that descriptor is one too many */
bool bb__lane_may_take(struct bb_lane *lane); /* else it would be lost for want of a descriptor: a pause */
void bb__lane_resume_accepting(struct bb_lane *lane);
void bb__lane_stop_accepting(struct bb_lane *lane);

/* lane_room.c */
#define BB_PAUSE_TIME 100 /* ms without accepting when nothing can be closed for a new connection */
void bb__lane_keep_to_limit(struct bb_lane *lane);
void bb__lane_tell_exhausted(struct bb_lane *lane, int error);
bool bb__lane_close_least_missed(struct bb_lane *lane); /* False: all are of use, or too young */
bool bb__lane_end_slowest(struct bb_lane *lane); /* ten a second; False: it is not time, or there is none */
bool bb__lane_has_place(struct bb_lane *lane, const struct bb__conn *conn); /* which has just come */
void bb__lane_reject(struct bb_lane *lane, struct bb__conn *conn);          /* 503 */

/* lane_spread.c: after a streak of accepts: others may be next. */
void bb__lane_take_turns(struct bb_lane *lane);

/* lane_source.c: an event of a listener or the shared queue, or another one's whose turn it is. Returns one
 * that has a request, or NULL. */
struct bb__conn *bb__lane_take_source(struct bb_lane *lane, struct epoll_event *taken);

/* lane_turn.c: the set is left, to the I/O thread if need be, while the host has the request; and taken back,
 * for what is done to it next. If the I/O thread is in the middle of a step, bb__lane_has_returned() does it
 * later.
 */
void bb__lane_leaves(struct bb_lane *lane);
void bb__lane_returns(struct bb_lane *lane, enum bb__then then);

/* lane_turn.c: whether the set is the lane's again. Else bb__lane_await_set() waits for the I/O thread, or
 * for bb_lane_wake(). */
bool bb__lane_has_returned(struct bb_lane *lane);
void bb__lane_await_set(struct bb_lane *lane);

/* lane_turn.c: the same for the time in which the host waits for a lock that its threads share: another
 * thread may have it for long. bb__lane_has_returned() ends it. */
void bb__lane_is_woken(struct bb_lane *lane);

/* lane_turn.c, where request_timeout is set: the first bytes of the answer may leave, or, if its end is among
 * them, the last. False: the connection is the I/O thread's. */
bool bb__lane_may_send(struct bb_lane *lane);

/* lane_turn.c: nothing more leaves, of an answer that is not whole. False: the I/O thread has given one, with
 * 504; else it does not any more. */
bool bb__lane_gives_up(struct bb_lane *lane);

/* lane_turn.c: the lane waits for its client, for long maybe: the I/O thread is to look whether others need
 * it.
 */
void bb__lane_waits(struct bb_lane *lane);

/* reply_wait.c: the client has taken something just now. */
void bb__reply_note_progress(struct bb_lane *lane);

/* reply_wait.c: sends what is pending. BB_OK; BB_EGONE, also if the client takes nothing for write_timeout.
 */
int bb__reply_flush_pending(struct bb_lane *lane);

/* lane_share.c: after each look; and while what it has found is served, if there is much of it: passes some
 * on to lanes that are idle, or that others are waiting for as well. False: look again. */
void bb__lane_looked(struct bb_lane *lane);
static inline bool bb__lane_is_to_share(const struct bb_lane *lane)
{
    return lane->shares.crowded > 0 && (!lane->shares.done || lane->shares.mean >= BB_SHARE_WORTH);
}
bool bb__lane_share(struct bb_lane *lane);

/* lane_share.c: the worker is withdrawn: passes on all that the last look has found. False: there is
 * something that only the host can do. */
bool bb__lane_pass_all(struct bb_lane *lane);

/* lane_shared.c: takes a connection that another lane has passed on. *served: it, if it has a request, else
 * NULL. BB_OK; BB_AGAIN: there is none. */
int bb__lane_take_shared(struct bb_lane *lane, struct bb__conn **served);

/* lane_drain.c: the worker drains. */
void bb__lane_begin_drain(struct bb_lane *lane);
void bb__lane_check_drain(struct bb_lane *lane); /* from time to time */
void bb__lane_show_done(struct bb_lane *lane);   /* or that it is not, on the scoreboard */
bool bb__lane_has_drained(struct bb_lane *lane);

/* lane_drain.c: takes a connection of the shared queue, as no other lane may be left to take it. False: there
 * is none. *conn: see bb__lane_take_shared(). */
bool bb__lane_take_left(struct bb_lane *lane, struct bb__conn **conn);

/* lane_turn.c: the one that was to go on at once waits for its turn: the I/O thread may have the set
 * meanwhile.
 */
void bb__lane_keep_again(struct bb_lane *lane);

/* lane_aside.c: the lane has `unwatched` set. */
void bb__lane_watch_again(struct bb_lane *lane);

#endif
