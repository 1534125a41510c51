/* conn_set.h: the set of the connections of one lane. The set also has the poller that reports events of
 * these connections, their timeouts, and a list of ready connections, which wait to be served. A set has one
 * owner at a time: the thread that calls these functions. A look at the poller is one epoll_wait(). The
 * functions do not handle listeners. */
#ifndef BB_CONN_SET_H
#define BB_CONN_SET_H

#include "conn/conn_report.h"
#include "conn/conn_transfer.h"
#include "sockets/poller.h"
#include "worker/canary.h"

#include <stdatomic.h>

/* ms. If the owner looks this much too late, it was busy or frozen. The scheduler may cause a shorter
 * delay. */
#define BB_AWAY_TIME 100

/* The value of due_back if nothing is due until an event comes. */
#define BB_NOT_DUE (UINT64_MAX - BB_AWAY_TIME)

struct bb__conn_set {
    struct bb__poller poller;
    struct bb__batch batch; /* events of the last look */
    struct bb__timeouts timeouts;
    struct bb__conn *conns; /* all connections of the set */
    uint64_t count;
    unsigned unsent;                           /* connections that wait until their client takes bytes */
    struct bb__conn *ready_first, *ready_last; /* the list of ready connections */
    unsigned ready_count;
    bool shared_queue_is_full;           /* no room for the first ready connection */
    atomic_uint_fast64_t *process_count; /* connections of all sets of the process */
    uint64_t due_back;                   /* ms, the latest time of the owner's next look */
    bool has_room;                       /* a connection was closed since the owner set this to false */
    bool hurried;                        /* see bb__conn_set_hurry() */
};

/* BB_OK or BB_ESYSTEM. Call bb__conn_set_close() in both cases. process_count must outlive the set. */
int bb__conn_set_open(struct bb__conn_set *set, const struct bb_settings *settings,
                      atomic_uint_fast64_t *process_count);

/* The caller has ended all connections. */
void bb__conn_set_close(struct bb__conn_set *set);

/* The owner calls bb__conn_set_look() at each look at the poller. now: ms. If the look comes too late,
 * because the owner was busy or its process was frozen (SIGSTOP), all timeouts except BB_TIMEOUT_KEEPALIVE
 * are extended by the delay. A timeout that was set during the delay, when a lane ended its request, is
 * extended only by the rest of the delay. */
void bb__conn_set_excuse(struct bb__conn_set *set, uint64_t now);
static inline void bb__conn_set_look(struct bb__conn_set *set, uint64_t now)
{
    if (now > set->due_back + BB_AWAY_TIME) bb__conn_set_excuse(set, now);
    set->due_back = now;
}

/* Shows in the lane's block what the connections wait for. For the owner of the set. block: NULL is
 * allowed. */
void bb__conn_set_show(const struct bb__conn_set *set, struct bb__metrics_block *block);

/* Adds a connection. The set owns it from now on. */
void bb__conn_set_add(struct bb__conn_set *set, struct bb__conn *conn);

/* Ends a connection of the set and frees it. */
void bb__conn_set_end(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                      enum bb__conn_end end);

/* next: the result of the last bb__conn_*() call for this connection. BB_CONN_WAIT: watches the connection,
 * or ends it if that fails. BB_CONN_AGAIN: adds the connection to the end of the ready list. BB_CONN_CLOSE:
 * ends the connection. BB_CONN_REQUEST: returns true, because the connection has a request to serve. */
bool bb__conn_set_settle(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                         enum bb__conn_next next);

/* The poller reports no event of this connection until bb__conn_set_settle() watches it again. */
void bb__conn_set_unwatch(struct bb__conn_set *set, struct bb__conn *conn);

/* Makes a connection from a socket. NULL: out of memory, and the socket is closed. */
struct bb__conn *bb__conn_set_take(struct bb__conn_set *set, struct bb__conn_context *context, int fd,
                                   unsigned listener, const struct bb__peer *peer);

/* The same for a socket that has just been accepted. Counts it. */
struct bb__conn *bb__conn_set_accept(struct bb__conn_set *set, struct bb__conn_context *context, int fd,
                                     unsigned listener, const struct bb__peer *peer);

enum bb__received {                      /* from BB_RECEIVED_MESSAGE on, the queue had a connection */
                    BB_RECEIVED_NOTHING, /* the shared queue is empty, or fails */
                    BB_RECEIVED_NUDGE,   /* a message without a connection: see bb__worker_nudge() */
                    BB_RECEIVED_MESSAGE,
                    BB_RECEIVED_LOST, /* a message whose descriptors are lost, because the process has no free
                                         ones */
                    BB_RECEIVED_OTHERS, /* a message for another group (canary.h), which was sent back */
};

/* Takes a message from the shared queue. *conn: the connection in the message. The set owns the connection,
 * and the caller calls bb__conn_resume() next. *conn is NULL if the message has no connection or was for
 * another worker, or if the connection is lost. lost: limits how often lost connections are reported. */
enum bb__received bb__conn_set_receive(struct bb__conn_set *set, struct bb__conn_context *context,
                                       const struct bb__shared_queue *shared_queue,
                                       struct bb__event_pace *lost, struct bb__conn **conn);

/* Sends a connection that has a complete request to the shared queue. If the shared queue has no room, or
 * bb__conn_admit() holds the request, the connection goes to the end of the ready list. If max_queue is
 * reached, the request is rejected. */
void bb__conn_set_pass(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                       const struct bb__shared_queue *shared_queue);

/* Whether a connection of the set may send another request, or has a request that waits. */
static inline bool bb__conn_set_may_be_asked(const struct bb__conn_set *set)
{
    static const enum bb__timeout_kind receiving[] = {BB_TIMEOUT_FRESH, BB_TIMEOUT_HEADER,
                                                      BB_TIMEOUT_KEEPALIVE, BB_TIMEOUT_BODY, BB_TIMEOUT_DISK};
    for (size_t i = 0; i < sizeof receiving / sizeof *receiving; i++)
        if (bb__timeout_oldest(&set->timeouts, receiving[i])) return true;
    return set->ready_first != NULL;
}

/* Passes on a connection whose client is idle, for the lanes of a group. False: the shared queue has no room
 * now, and the connection is watched. */
bool bb__conn_set_pass_one_idle(struct bb__conn_set *set, struct bb__conn_context *context,
                                struct bb__conn *conn, const struct bb__shared_queue *shared_queue,
                                enum bb__group group);

/* Passes on the connections whose client is idle or has not sent a whole head. False: some of them could not
 * be passed on now. */
bool bb__conn_set_pass_idle(struct bb__conn_set *set, struct bb__conn_context *context,
                            const struct bb__shared_queue *shared_queue);

/* Shortens the timeouts of clients that are idle or have not sent a whole head, and of lingering connections.
 * These timeouts end at most wait_time (ms) after `began`, or after they were set if that is later. began:
 * ms, when the worker began to drain (end gracefully). Only the first call has an effect. */
void bb__conn_set_hurry(struct bb__conn_set *set, uint64_t wait_time, uint64_t began);

/* Takes the first ready connection. There must be one. */
struct bb__conn *bb__conn_set_take_ready(struct bb__conn_set *set);

#endif
