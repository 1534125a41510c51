/* bontebok_time.h: the part of bontebok.h, which includes it, that is for requests whose time is limited: how
 * the host, and another process, hear of one that has had its time. bontebok.h tells what its client gets. */
#ifndef BONTEBOK_TIME_H
#define BONTEBOK_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct bb_lane;
struct bb_worker;

/* An eventfd, the worker's. Whoever minds it reads it, and asks, from any thread: has one had its
 * request_timeout since? Then bb_lane_take_overdue() finds which. When the host has logged what it knows of
 * them it says so: until then nobody is told BB_TELL_EMPTIED. */
int bb_worker_alarm(const struct bb_worker *worker);
bool bb_worker_take_overdue(struct bb_worker *worker);
void bb_worker_overdue_is_logged(struct bb_worker *worker);

/* worker_timeout, the time for which a host may have a request and not move, takes I/O thread and board. The
 * host calls bb_worker_beat() some times in it while its lanes have requests, from a thread that needs what a
 * host that hangs does not give up. Who minds the worker looks at `silent` and `taken` on the scoreboard, and
 * ends the process. While the worker is watched, the I/O thread writes the labels of requests that take long.
 * Any thread.
 */
void bb_worker_beat(struct bb_worker *worker);
void bb_worker_watch(struct bb_worker *worker, bool watch);

/* Whether the current request has had its request_timeout_soft; its request_timeout, and *ms that the host
 * has had it: each is told once. The alarm again, if nobody has asked for the first; and so many ms more for
 * the request, before both limits. Any thread: the host sees to it that no other uses the lane, as it means
 * this request. */
bool bb_lane_take_late(struct bb_lane *lane);
bool bb_lane_take_overdue(struct bb_lane *lane, uint64_t *ms);
void bb_lane_remind(struct bb_lane *lane);
void bb_lane_extend_time(struct bb_lane *lane, uint64_t ms);

/* What a worker tells another process, which is to replace this one. */
enum bb_tell {
    BB_TELL_OVERDUE, /* a request has had its request_timeout, and others have not */
    BB_TELL_STUCK,   /* the request of every lane has: the worker drains (BB_QUEUE_LEAVE) */
    BB_TELL_EMPTIED, /* and nothing else is left in it: all other connections were ended or passed on */
    BB_TELL_STARVED, /* it has no connection, and no descriptor for one, for some seconds */
    BB_TELLS,
};

/* Has I/O thread and lanes write bytes[tell] to fd: the host may hang. fd stays the caller's, and outlives
 * the worker. Call it before bb_worker_start_io_thread(). */
void bb_worker_tell(struct bb_worker *worker, int fd, const char bytes[BB_TELLS]);

#endif
