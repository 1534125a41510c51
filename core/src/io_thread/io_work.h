/* io_work.h: what the I/O thread does with the set of one lane that is busy. Used by io_thread.c, with the
 * I/O thread's lock held. */
#ifndef BB_IO_WORK_H
#define BB_IO_WORK_H

#include "io_thread/io_thread.h"
#include "lane/lane.h"

/* The set is WORK since just now: takes it over, and does what there is to do. It is HELD then, or given
 * back. */
void bb__io_begin(struct bb__io_thread *io, struct bb_lane *lane);

/* The set is WORK again: something has come, or a time is over. */
void bb__io_go_on(struct bb__io_thread *io, struct bb_lane *lane);

/* The set is WORK, or the lane wants it back: it is HELD then, or given back. */
void bb__io_let_go(struct bb_lane *lane);

/* The lane, which is back, waits for the set. */
static inline bool bb__io_is_wanted(struct bb_lane *lane)
{
    return bb__owner_state_of(bb__owner_look(&lane->owner)) == BB_OWNER_RECLAIMED;
}

/* Of two times. */
static inline uint64_t bb__sooner(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* io_step.c: judges lanes of other processes that show that they are idle. waiting: something waits that such
 * a lane would take. *since: ms, when that was seen first; 0: nothing waits. The scoreboard doubts the lanes
 * at first. If something still waits BB_PROMPT later, they do not count as idle until they move. */
void bb__io_judge_idle(struct bb__io_thread *io, uint64_t *since, bool waiting);

/* Does what a connection's last step asks for; if that is a request, it is passed on. */
void bb__io_settle(struct bb__io_thread *io, struct bb_lane *lane, struct bb__conn *conn,
                   enum bb__conn_next next);

/* io_queue.c: where MaxQueue or QueueTimeout is set: answers those that have waited for too long, and, if
 * no lane of any process is idle, accepts. The set is WORK. Returns ms until it is to look again; -1: it is
 * not. */
int bb__io_check_queue(struct bb__io_thread *io, struct bb_lane *lane);

/* io_queue.c: takes the connections that were queued when the worker began to drain. The set is WORK. */
void bb__io_take_queued(struct bb__io_thread *io, struct bb_lane *lane);

/* ms. Requests that last for so long are named on the scoreboard; 0: none is. */
static inline uint64_t bb__io_watch_time(const struct bb_worker *worker)
{
    return bb__sooner(worker->settings.worker_timeout / 4, 1000);
}

/* io_limit.c: ends a request that the host has had for too long, or has the host do that. The set is
 * WORK.
 */
void bb__io_limit(struct bb__io_thread *io, struct bb_lane *lane);

/* io_limit.c: tells whoever replaces the worker that a request has had its time. If those of all lanes
 * have, the worker drains, and it is told when nothing else is left. After all sets were looked at, with the
 * I/O thread's lock held. */
void bb__io_check_overdue(struct bb__io_thread *io);

/* io_readers.c: lanes wait for clients that read slowly: if other requests wait for them, resets readers.
 * The I/O thread is about to wait. */
void bb__io_check_readers(struct bb__io_thread *io);

/* ms, between two looks at lanes that have waited for their clients. */
#define BB_READERS_LOOK 100
static inline bool bb__io_watches_reader(const struct bb_lane *lane)
{
    return lane->watched.has_request && atomic_load(&lane->reply.taking) > 0;
}

/* io_limit.c: ms, when there is something to do for a set that is held. */
uint64_t bb__io_until(struct bb__io_thread *io, const struct bb_lane *lane);

/* epoll has failed: this goes into the log, once per second. */
void bb__io_note_trouble(struct bb__io_thread *io, int error);

/* Hands on what the host is to log, writes the access log's lines. Without the lock. */
void bb__io_tell(struct bb__io_thread *io);

#endif
