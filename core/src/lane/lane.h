/* lane.h: one host thread's set of connections and its current request. Shared by the files of lane/, and by
 * the I/O thread, which takes the set over. */
#ifndef BB_LANE_H
#define BB_LANE_H

#include "base/tuning.h"
#include "conn/conn.h"
#include "http/h1_reply.h"
#include "lane/conn_set.h"
#include "system/access_log.h"
#include "system/set_owner.h"
#include "worker/worker.h"

/* ms between two attempts at something that the shared queue had no room for. */
#define BB_RETRY 10

/* Who answers the current request. Each step is one compare-and-swap on an atomic word, so either the lane or
 * the I/O thread makes it.
 *
 *                  the lane, before the first bytes leave     before the last ones
 *         OPEN ---------------------------------------> SENT ----------------------> ENDED
 *          |  \__________________________________________|___________________________^
 *          v  the I/O thread, at request_timeout         v        all of it at once
 *        BY_IO                                          CUT
 *
 * If the I/O thread has answered (BY_IO, CUT), what the lane replies is thrown away. If the response is whole
 * (ENDED), the I/O thread leaves the connection alone: the host is still busy, but its client has the
 * response or will have it. */
enum bb__response_state {
    BB_RESPONSE_OPEN,
    BB_RESPONSE_SENT,
    BB_RESPONSE_ENDED,
    BB_RESPONSE_BY_IO, /* the I/O thread answered with 504 */
    BB_RESPONSE_CUT,   /* the I/O thread shut the connection down: the client sees that the response is not
                          whole */
};

/* The reply under construction. */
struct bb__lane_reply {
    struct bb__h1_reply encoder;
    struct bb__buf staged;       /* the head and small parts, which leave in one send */
    uint64_t write_progress;     /* ms, when the client last took something while bytes were pending */
    uint64_t body_length;        /* bytes of parts that were sent or copied */
    atomic_uint_fast64_t waited; /* ms, for which the lane has waited for the client */
    atomic_uint_fast64_t
        taking; /* 1 + bytes per second that the client took at the last wait; 0: the lane has not waited */
    atomic_bool waits;    /* the lane waits for the client now, for longer than a moment */
    int64_t given;        /* bytes that the socket has taken */
    int64_t taken_before; /* bytes that the client had taken when the first wait began, or less: see
                             reply_wait.c */
    bool sent;            /* something may have reached the client */
    bool ended;           /* the end of the body is in `staged`, or was sent */
    int ended_as;         /* BB_OK or BB_ESHORT */
    bool spools;          /* the client is slow: bytes that memory has no room for go to a file */
    uint64_t moments;     /* us, for which the lane has waited for a client that might be quick */
    int failed; /* the code that bb_reply_write() failed with: bytes are missing, so none may follow */
};

/* What a lane does as soon as it has its set again. */
enum bb__then {
    BB_THEN_NOTHING,
    BB_THEN_GO_ON,
    BB_THEN_CLOSE,
    BB_THEN_RESET,
    BB_THEN_STEP_BACK,
    BB_THEN_WAKE, /* the lane was woken: nobody may have taken its set */
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

/* The worker's lanes, one after the other. The caller holds one of the worker's locks. */
static inline struct bb_lane *bb__first_lane(const struct bb_worker *worker)
{
    return bb__lane_of(worker->lanes);
}

static inline struct bb_lane *bb__next_lane(const struct bb_lane *lane)
{
    return bb__lane_of(lane->intake.next);
}

/* Does what a connection's last step asks for. True: it has a request to serve. */
static inline bool bb__lane_settle(struct bb_lane *lane, struct bb__conn *conn, enum bb__conn_next next)
{
    return bb__conn_set_settle(&lane->set, &lane->context, conn, next);
}

/* ---- lane_log.c: only where there is an access log ---- */

void bb__lane_log_idle(struct bb_lane *lane);              /* the lane has nothing to do */
void bb__lane_log_begin(struct bb_lane *lane);             /* the host is about to get the request */
void bb__lane_log_head(struct bb_lane *lane);              /* the head of the response is made */
void bb__lane_log_end(struct bb_lane *lane, bool aborted); /* the host is done with the request */
void bb__lane_log_flush(struct bb_lane *lane);
void bb__lane_log_tick(struct bb_lane *lane); /* call it from time to time */

/* The lane has drained: writes the last lines. False: the target has not taken them yet. */
bool bb__lane_log_last(struct bb_lane *lane);

/* Tells the host of lines that were lost. Used by the I/O thread as well. */
void bb__log_tell_losses(struct bb__conn_context *context, struct bb__event_pace *pace);

/* ---- lane_watch.c: the sources, which are the listeners and the shared queue, in the lane's set ---- */

void bb__lane_watch_sources(struct bb_lane *lane);
void bb__lane_unwatch_sources(struct bb_lane *lane);

/* There is no room for another connection: takes the sources out of the set for a while. */
void bb__lane_pause(struct bb_lane *lane);

/* ms, when the pause is over. */
uint64_t bb__lane_resumes(const struct bb_lane *lane);

/* Takes the sources out of the set and adds them again: the poller reports what is there already, and other
 * lanes are woken before this one. */
void bb__lane_rescan(struct bb_lane *lane);

/* Adds the sources, and unlocks the worker's lock, which the lane's thread holds. If there is no room for
 * all, the lane pauses. */
void bb__lane_watch_and_unlock(struct bb_lane *lane);

/* A lane that drains goes on watching the shared queue. */
void bb__lane_watch_shared_queue(struct bb_lane *lane);

/* ---- lane_accept.c ---- */

void bb__lane_listen(struct bb_lane *lane);
void bb__lane_resume_accepting(struct bb_lane *lane);
void bb__lane_stop_accepting(struct bb_lane *lane);

/* An event of a listener. others_wait: other sources have events too, so one connection is accepted, not
 * several. */
void bb__lane_on_listener(struct bb_lane *lane, const struct bb__listener *listener, uint32_t events,
                          bool others_wait);

/* Accepts a connection, or takes one that was in an accept queue when the worker began to drain. Returns it
 * if it has a request, else NULL. */
struct bb__conn *bb__lane_accept(struct bb_lane *lane);
struct bb__conn *bb__lane_adopt(struct bb_lane *lane);

/* ---- lane_room.c ---- */

#define BB_PAUSE_TIME 100 /* ms without accepting if no connection can be closed for a new one */

void bb__lane_keep_to_limit(struct bb_lane *lane);
void bb__lane_tell_exhausted(struct bb_lane *lane, int error);

/* Closes a connection for another one, if that one's descriptor is one too many. */
void bb__lane_make_room(struct bb_lane *lane, int newest);

/* Before a message is taken: a descriptor has to be free for it. False: there is none, and the lane pauses.
 */
bool bb__lane_ensure_descriptor(struct bb_lane *lane);

/* Closes the connection that is missed least. False: each is of use or too young. */
bool bb__lane_close_least_missed(struct bb_lane *lane);

/* Ends the slowest client, ten in a second. False: it is not time, or no client is slow. */
bool bb__lane_end_slowest(struct bb_lane *lane);

/* Finds a place for a new connection. False: there is none. */
bool bb__lane_find_place(struct bb_lane *lane, const struct bb__conn *conn);

/* Answers with 503 and closes. */
void bb__lane_reject(struct bb_lane *lane, struct bb__conn *conn);

/* ---- lane_spread.c, lane_source.c ---- */

/* After a streak of accepts: lets other lanes be next, if this lane has had more. */
void bb__lane_take_turns(struct bb_lane *lane);

/* An event of a source. Serves it, or the event of another source whose turn it is. Returns a connection that
 * has a request, or NULL. */
struct bb__conn *bb__lane_take_source(struct bb_lane *lane, struct epoll_event *taken);

/* ---- lane_turn.c: who has the set while the host has a request ---- */

/* The host gets a request: from now on the I/O thread may take the set. */
void bb__lane_release_set(struct bb_lane *lane);

/* The same while the host waits for a lock that its threads share; another thread may have it for long. */
void bb__lane_release_woken(struct bb_lane *lane);

/* The host has ended its request: takes the set back and does `then`. If the I/O thread is in the middle of a
 * step, bb__lane_try_reclaim() does it later. */
void bb__lane_reclaim_set(struct bb_lane *lane, enum bb__then then);

/* Takes the set back and does what is left to do. False: the I/O thread still has it; bb__lane_await_set()
 * waits for that, or for bb_lane_wake(). */
bool bb__lane_try_reclaim(struct bb_lane *lane);
void bb__lane_await_set(struct bb_lane *lane);

/* Only with request_timeout. The lane is about to send the first bytes of the response, or the last. False:
 * the connection is the I/O thread's. */
bool bb__lane_may_send(struct bb_lane *lane);

/* The lane sends no more of a response that is not whole. False: the I/O thread has answered with 504. */
bool bb__lane_stop_sending(struct bb_lane *lane);

/* The lane is about to wait for its client: the I/O thread has to see whether other requests need the lane.
 */
void bb__lane_announce_wait(struct bb_lane *lane);

/* The connection that was to be next goes to the end of those that wait: the I/O thread may take the set. */
void bb__lane_keep_again(struct bb_lane *lane);

/* lane_aside.c: puts the sources back into the set of a lane that is `unwatched`. */
void bb__lane_watch_again(struct bb_lane *lane);

/* ---- reply_wait.c ---- */

/* The client has just taken something. */
void bb__reply_note_progress(struct bb_lane *lane);

/* Sends what is pending. BB_OK; BB_EGONE, also if the client has taken nothing for write_timeout. */
int bb__reply_flush_pending(struct bb_lane *lane);

/* ---- lane_share.c: several requests at a time ---- */

/* After each look at the poller. */
void bb__lane_after_look(struct bb_lane *lane);

static inline bool bb__lane_is_to_share(const struct bb_lane *lane)
{
    return lane->shares.crowded > 0 && (!lane->shares.done || lane->shares.mean >= BB_SHARE_WORTH);
}

/* While the lane serves what a look found: passes some requests on to lanes that are idle. False: look again.
 */
bool bb__lane_share(struct bb_lane *lane);

/* The worker has paused accepting: passes on all that the last look found. False: only the host can do what
 * is left. */
bool bb__lane_pass_all(struct bb_lane *lane);

/* ---- lane_shared.c ---- */

/* Takes a connection from the shared queue. *served: the connection, if it has a request, else NULL. BB_OK;
 * BB_AGAIN: the queue is empty. */
int bb__lane_take_shared(struct bb_lane *lane, struct bb__conn **served);

/* ---- lane_drain.c ---- */

void bb__lane_begin_drain(struct bb_lane *lane);
void bb__lane_check_drain(struct bb_lane *lane); /* call it from time to time */

/* Shows on the scoreboard whether a connection of the lane may still bring a request. */
void bb__lane_show_done(struct bb_lane *lane);

/* True: the lane has nothing left and may end. Else it serves, or stands by for other lanes. */
bool bb__lane_finish_drain(struct bb_lane *lane);

/* Takes a connection from the shared queue because no other worker may be left to take it. False: the queue
 * is empty. *conn: see bb__lane_take_shared(). */
bool bb__lane_take_left(struct bb_lane *lane, struct bb__conn **conn);

#endif
