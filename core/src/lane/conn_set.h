/* conn_set.h: the connections of one lane and what waits for them: the kernel's set, their deadlines, those
 * whose turn it is to wait for. One thing with one owner at a time, the thread that calls these. Knows no
 * host, no listener and no request. */
#ifndef BB_CONN_SET_H
#define BB_CONN_SET_H

#include "conn/conn_transfer.h"
#include "system/poller.h"

#include <stdatomic.h>

/* ms. A shorter time may be the scheduler's. */
#define BB_AWAY_TIME 100

/* Nothing is due before something comes. */
#define BB_NOT_DUE (UINT64_MAX - BB_AWAY_TIME)

struct bb__conn_set {
    struct bb__poller poller;
    struct bb__batch batch; /* what the last look found */
    struct bb__timeouts timeouts;
    struct bb__conn *conns; /* all of them */
    uint64_t count;
    unsigned unsent; /* of them: clients that are to take something, as the kernel is asked to tell */
    struct bb__conn *ready_first, *ready_last; /* bytes in hand, waiting for their turn */
    unsigned ready_count;
    bool shared_queue_is_full;           /* for the first of them */
    atomic_uint_fast64_t *process_count; /* of all sets of the process */
    uint64_t due_back;                   /* ms, when its owner is to look again */
    bool has_room;                       /* a connection was closed since the owner has set it to false */
    bool hurried;                        /* see bb__conn_set_hurry() */
};

/* BB_OK or BB_ESYSTEM; bb__conn_set_close() is due either way. process_count outlives the set. */
int bb__conn_set_open(struct bb__conn_set *set, const struct bb_settings *settings,
                      atomic_uint_fast64_t *process_count);

/* There are no connections any more. */
void bb__conn_set_close(struct bb__conn_set *set);

/* Its owner looks, and if it does so much too late, as it was busy or its process was stopped, no client is
 * to suffer for that. now: ms. */
void bb__conn_set_excuse(struct bb__conn_set *set, uint64_t now);
static inline void bb__conn_set_look(struct bb__conn_set *set, uint64_t now)
{
    if (now > set->due_back + BB_AWAY_TIME) bb__conn_set_excuse(set, now);
    set->due_back = now;
}

/* The set's from now on. */
void bb__conn_set_add(struct bb__conn_set *set, struct bb__conn *conn);

/* Ends a connection of the set, and frees it. */
void bb__conn_set_end(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                      enum bb__conn_end end);

/* Does what a connection's last step asks for. BB_CONN_WAIT: it was watched or had to be ended;
 * BB_CONN_AGAIN: it is the last of the ready ones; BB_CONN_CLOSE: it was ended. True for BB_CONN_REQUEST: it
 * has a request to serve. */
bool bb__conn_set_settle(struct bb__conn_set *set, struct bb__conn_context *context, struct bb__conn *conn,
                         enum bb__conn_next next);

/* Nothing of it is heard until it is settled again. */
void bb__conn_set_unwatch(struct bb__conn_set *set, struct bb__conn *conn);

/* One that was accepted. NULL: out of memory, it is closed. */
struct bb__conn *bb__conn_set_accept(struct bb__conn_set *set, struct bb__conn_context *context, int fd,
                                     unsigned listener, const char *peer);

/* One that was passed on. BB_OK: *conn is the set's, bb__conn_resume() is next; NULL: nothing has come of it.
 * BB_EVENT: a nudge (bb__worker_nudge()). BB_AGAIN: there is none. lost: telling of those for which there was
 * no room. */
int bb__conn_set_receive(struct bb__conn_set *set, struct bb__conn_context *context,
                         const struct bb__shared_queue *shared_queue, struct bb__event_pace *lost,
                         struct bb__conn **conn);

/* A complete request that this lane does not serve: goes to whichever takes it first, or, when the shared
 * queue has no room for it or it is not its turn, is the last of the ready ones. Where the queue is full it
 * is turned away. */
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

/* Passes on those that are idle, or have not sent a whole head. False: the shared queue has no room for some
 * of them now. */
bool bb__conn_set_pass_idle(struct bb__conn_set *set, struct bb__conn_context *context,
                            const struct bb__shared_queue *shared_queue);

/* The worker drains, since `began` (ms): who is idle, or does not say all he has to, has little time left.
 * Once. */
void bb__conn_set_hurry(struct bb__conn_set *set, uint64_t wait_time, uint64_t began);

/* Takes the first of those that are ready; there is one. */
struct bb__conn *bb__conn_set_take_ready(struct bb__conn_set *set);

#endif
