/* io_work.h: what the I/O thread does with the set (all connections) of one busy lane. A lane is a thread
 * that serves requests. The callers hold the I/O thread's lock, except where noted. */
#ifndef BB_IO_WORK_H
#define BB_IO_WORK_H

#include "io_thread/io_thread.h"
#include "lane/lane.h"

/* Takes over a set that has just become WORKING (set_owner.h has the states). On return the set is PARKED or
 * given back to the lane. */
void bb__io_begin(struct bb__io_thread *io, struct bb_lane *lane);

/* As bb__io_begin(), but for a set that was PARKED and has just become WORKING. */
void bb__io_go_on(struct bb__io_thread *io, struct bb_lane *lane);

/* Ends a step: parks the set, or gives it back if the lane wants it. The set is WORKING or RECLAIMED. */
void bb__io_let_go(struct bb_lane *lane);

/* Whether the lane has ended its request and waits for the set. */
static inline bool bb__io_is_wanted(struct bb_lane *lane)
{
    return bb__owner_state_of(bb__owner_look(&lane->owner)) == BB_OWNER_RECLAIMED;
}

static inline uint64_t bb__sooner(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* io_step.c: finds lanes of other processes that do not run, although the scoreboard shows that they are
 * idle. waiting: true if a connection or a message waits, and an idle lane should take it. The first call
 * with `waiting` marks the idle lanes as doubted on the scoreboard. If `waiting` is still true BB_PROMPT ms
 * later, the doubted lanes do not count as idle until they run again. *since: ms, when `waiting` was first
 * true; 0: nothing waits. */
void bb__io_judge_idle(struct bb__io_thread *io, uint64_t *since, bool waiting);

/* io_step.c: as bb__conn_set_settle(), but passes a complete request on to the shared queue. */
void bb__io_settle(struct bb__io_thread *io, struct bb_lane *lane, struct bb__conn *conn,
                   enum bb__conn_next next);

/* io_queue.c: rejects requests that have waited for too long, and accepts connections if no lane of any
 * process is idle. Called only if context.admission is not NULL. The set is WORKING. Returns ms until the
 * next check; -1: no check is needed. */
int bb__io_check_queue(struct bb__io_thread *io, struct bb_lane *lane);

/* io_queue.c: takes the connections that were in the accept queues when the worker began to drain. The set
 * is WORKING. */
void bb__io_take_queued(struct bb__io_thread *io, struct bb_lane *lane);

/* Returns after how many ms the scoreboard shows the label (method and path) of a request. The label comes
 * before the parent is told of the request, because the parent may log it. */
static inline uint64_t bb__io_watch_time(const struct bb_worker *worker)
{
    uint64_t hangs = worker->settings.worker_timeout, hard = worker->settings.request_timeout;
    uint64_t shorter = hangs > 0 && hard > 0 ? bb__sooner(hangs, hard) : hangs + hard;
    return shorter > 0 ? bb__sooner((shorter + 3) / 4, 1000) : 1000;
}

/* io_limit.c: handles a request that is past a time limit. At the soft limit the host (the program that calls
 * the core: Ruby) is informed. At the hard limit the client also gets a 504, or its connection is shut down.
 * The set is WORKING. */
void bb__io_limit(struct bb__io_thread *io, struct bb_lane *lane);

/* io_limit.c: tells the parent that a request is past request_timeout. If the requests of all lanes are past
 * request_timeout, the worker drains (ends gracefully). Tells the parent again when the worker has only these
 * requests left. Called at the end of each look at the lanes. */
void bb__io_check_overdue(struct bb__io_thread *io);

/* io_readers.c: resets clients that read slowly, if lanes wait for them and other requests need these lanes.
 * Called at the end of each look at the lanes. */
void bb__io_check_readers(struct bb__io_thread *io);

/* ms between two looks at lanes that wait for their clients. */
#define BB_READERS_LOOK 100
static inline bool bb__io_watches_reader(const struct bb_lane *lane)
{
    return lane->watched.has_request && atomic_load(&lane->reply.taking) > 0;
}

/* io_limit.c: returns the time (ms) of the next step with a PARKED set. */
uint64_t bb__io_until(struct bb__io_thread *io, const struct bb_lane *lane);

/* io_step.c: logs that epoll has failed, at most once per second. Called with or without the lock. */
void bb__io_note_trouble(struct bb__io_thread *io, int error);

/* io_step.c: passes events on to the host and writes lines of the access log. Called without the lock. */
void bb__io_tell(struct bb__io_thread *io);

#endif
