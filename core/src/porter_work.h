/* porter_work.h: what the porter does with the set of one lane that is busy. Used by porter.c, with the
 * porter's lock held. */
#ifndef BB_PORTER_WORK_H
#define BB_PORTER_WORK_H

#include "lane.h"
#include "porter.h"

/* The set is WORK since just now: takes it over, and does what there is to do. It is HELD then, or given
 * back. */
void bb__porter_begin(struct bb__porter *porter, struct bb_lane *lane);

/* The set is WORK again: something has come, or a time is over. */
void bb__porter_go_on(struct bb__porter *porter, struct bb_lane *lane);

/* porter_limit.c: ends a request that the host has had for too long, or has the host do that. The set is
 * WORK.
 */
void bb__porter_limit(struct bb__porter *porter, struct bb_lane *lane);

/* porter_limit.c: ms, when there is something to do for a set that is held. */
uint64_t bb__porter_until(const struct bb_lane *lane);

/* Hands on what the host is to log, writes the access log's lines. Without the lock. */
void bb__porter_tell(struct bb__porter *porter);

#endif
