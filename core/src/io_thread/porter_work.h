/* porter_work.h: what the porter does with the set of one lane that is busy. Used by porter.c, with the
 * porter's lock held. */
#ifndef BB_PORTER_WORK_H
#define BB_PORTER_WORK_H

#include "io_thread/porter.h"
#include "lane/lane.h"

/* The set is WORK since just now: takes it over, and does what there is to do. It is HELD then, or given
 * back. */
void bb__porter_begin(struct bb__porter *porter, struct bb_lane *lane);

/* The set is WORK again: something has come, or a time is over. */
void bb__porter_go_on(struct bb__porter *porter, struct bb_lane *lane);

/* The set is WORK, or the lane wants it back: it is HELD then, or given back. */
void bb__porter_let_go(struct bb_lane *lane);

/* The lane, which is back, waits for the set. */
static inline bool bb__porter_is_wanted(struct bb_lane *lane)
{
    return bb__own_state_of(bb__own_look(&lane->own)) == BB_OWN_WANT;
}

/* Of two times. */
static inline uint64_t bb__sooner(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* Does what a connection's last step asks for; if that is a request, it is passed on. */
void bb__porter_settle(struct bb__porter *porter, struct bb_lane *lane, struct bb__conn *conn,
                       enum bb__conn_next next);

/* porter_queue.c: where MaxQueue or QueueTimeout is set: answers those that have waited for too long, and, if
 * no lane of any process is idle, accepts. The set is WORK. Returns ms until it is to look again; -1: it is
 * not. */
int bb__porter_mind_queue(struct bb__porter *porter, struct bb_lane *lane);

/* porter_queue.c: takes the connections that were queued when the worker began to drain. The set is WORK. */
void bb__porter_take_queued(struct bb__porter *porter, struct bb_lane *lane);

/* ms. Requests that last for so long are named on the board; 0: none is. */
static inline uint64_t bb__porter_watch_time(const struct bb_worker *worker)
{
    return bb__sooner(worker->settings.worker_timeout / 4, 1000);
}

/* porter_limit.c: ends a request that the host has had for too long, or has the host do that. The set is
 * WORK.
 */
void bb__porter_limit(struct bb__porter *porter, struct bb_lane *lane);

/* porter_limit.c: tells whoever replaces the worker that a request has had its time. If those of all lanes
 * have, the worker drains, and it is told when nothing else is left. After all sets were looked at, with the
 * porter's lock held. */
void bb__porter_mind_overdue(struct bb__porter *porter);

/* porter_readers.c: lanes wait for clients that read slowly: if other requests wait for them, resets readers.
 * The porter is about to wait. */
void bb__porter_mind_readers(struct bb__porter *porter);

/* ms, between two looks at lanes that have waited for their clients. */
#define BB_READERS_LOOK 100
static inline bool bb__porter_minds_reader(const struct bb_lane *lane)
{
    return lane->minded.has_request && atomic_load(&lane->reply.taking) > 0;
}

/* porter_limit.c: ms, when there is something to do for a set that is held. */
uint64_t bb__porter_until(struct bb__porter *porter, const struct bb_lane *lane);

/* epoll has failed: this goes into the log, once per second. */
void bb__porter_note_trouble(struct bb__porter *porter, int error);

/* Hands on what the host is to log, writes the access log's lines. Without the lock. */
void bb__porter_tell(struct bb__porter *porter);

#endif
