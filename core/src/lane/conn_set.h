/* conn_set.h: the connections of one lane: the poller that reports their events, their timeouts, and those
 * that wait for their turn. A set has one owner at a time, the thread that calls these functions. It knows
 * no host and no listener. */
#ifndef BB_CONN_SET_H
#define BB_CONN_SET_H

#include "conn/conn_transfer.h"
#include "system/poller.h"

#include <stdatomic.h>

/* ms. A shorter time may be the scheduler's. */
#define BB_AWAY_TIME 100

/* Nothing is due until an event comes. */
#define BB_NOT_DUE (UINT64_MAX - BB_AWAY_TIME)

struct bb__conn_set {
    struct bb__poller poller;
    struct bb__batch batch; /* events of the last look */
    struct bb__timeouts timeouts;
    struct bb__conn *conns; /* all connections of the set */
    uint64_t count;
    unsigned unsent;                           /* connections that wait until their client takes something */
    struct bb__conn *ready_first, *ready_last; /* they have bytes to read and wait for their turn */
    unsigned ready_count;
    bool shared_queue_is_full;           /* it has no room for the first of them */
    atomic_uint_fast64_t *process_count; /* connections of all sets of the process */
    uint64_t due_back;                   /* ms, when the owner has to look again */
    bool has_room;                       /* a connection was closed since the owner set this to false */
    bool hurried;                        /* see bb__conn_set_hurry() */
};

/* BB_OK or BB_ESYSTEM. Call bb__conn_set_close() in either case. process_count must outlive the set. */
int bb__conn_set_open(struct bb__conn_set *set, const struct bb_settings *settings,
                      atomic_uint_fast64_t *process_count);

/* No connection is left. */
void bb__conn_set_close(struct bb__conn_set *set);

/* The owner looks. now: ms. If it looks much too late, because it was busy or its process was stopped, all
 * timeouts are put off by that time. */
void bb__conn_set_excuse(struct bb__conn_set *set, uint64_t now);
static inline void bb__conn_set_look(struct bb__conn_set *set, uint64_t now)
{
    if (now > set->due_back + BB_AWAY_TIME) bb__conn_set_excuse(set, now);
    set->due_back = now;
}

/* Adds a connection. The set owns it from now on. */
void bb__conn_set_add(struct bb__conn_set *set, struct bb__conn *conn);

/* Ends a connection of the set and frees it. */
void bb__conn_set_end(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                      enum bb__conn_end end);

/* Does what a connection's last step asks for. BB_CONN_WAIT: watches it, or ends it if that fails.
 * BB_CONN_AGAIN: it becomes the last of the ready ones. BB_CONN_CLOSE: ends it. BB_CONN_REQUEST: returns
 * true, because it has a request to serve. */
bool bb__conn_set_settle(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                         enum bb__conn_next next);

/* The poller reports no event of this connection until it is settled again. */
void bb__conn_set_unwatch(struct bb__conn_set *set, struct bb__conn *conn);

/* Makes a connection of an accepted socket. NULL: out of memory, and the socket is closed. */
struct bb__conn *bb__conn_set_accept(struct bb__conn_set *set, struct bb__conn_context *context, int fd,
                                     unsigned listener, const char *peer);

enum bb__received {
    BB_RECEIVED_NOTHING, /* the shared queue is empty, or fails */
    BB_RECEIVED_NUDGE,   /* see bb__worker_nudge() */
    BB_RECEIVED_MESSAGE,
};

/* Takes a message from the shared queue. *conn: the connection that it held, which the set owns from now on,
 * and bb__conn_resume() is next; NULL: the message was for another worker, or is lost. lost: the pace of
 * events about lost connections. */
enum bb__received bb__conn_set_receive(struct bb__conn_set *set, struct bb__conn_context *context,
                                       const struct bb__shared_queue *shared_queue,
                                       struct bb__event_pace *lost, struct bb__conn **conn);

/* Passes on a complete request that this lane does not serve. If the shared queue has no room, or it is not
 * its turn, the connection becomes the last of the ready ones. If MaxQueue is reached, the request is
 * rejected. */
void bb__conn_set_pass(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                       const struct bb__shared_queue *shared_queue);

/* Whether a connection may bring another request, or has one that waits. */
static inline bool bb__conn_set_may_be_asked(const struct bb__conn_set *set)
{
    static const enum bb__timeout_kind receiving[] = {BB_TIMEOUT_FRESH, BB_TIMEOUT_HEADER,
                                                      BB_TIMEOUT_KEEPALIVE, BB_TIMEOUT_BODY};
    for (size_t i = 0; i < sizeof receiving / sizeof *receiving; i++)
        if (bb__timeout_oldest(&set->timeouts, receiving[i])) return true;
    return set->ready_first != NULL;
}

/* Passes on the connections that are idle or have not sent a whole head. False: the shared queue has no room
 * for some of them now. */
bool bb__conn_set_pass_idle(struct bb__conn_set *set, struct bb__conn_context *context,
                            const struct bb__shared_queue *shared_queue);

/* The worker drains since `began` (ms): clients that are idle, or have not sent a whole request, have little
 * time left. Has an effect once. */
void bb__conn_set_hurry(struct bb__conn_set *set, uint64_t wait_time, uint64_t began);

/* Takes the first of the ready connections. There is one. */
struct bb__conn *bb__conn_set_take_ready(struct bb__conn_set *set);

#endif
