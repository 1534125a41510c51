/* bontebok_time.h: the part of bontebok.h about requests that are past their timeout. It tells the host, and
 * the process that watches the host, about such requests. bontebok.h says what the client gets, and includes
 * this file. */
#ifndef BONTEBOK_TIME_H
#define BONTEBOK_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct bb_lane;
struct bb_worker;

/* bb_worker_alarm() returns an eventfd, which the worker owns. It becomes readable when a request passes
 * request_timeout_soft or request_timeout. A thread of the host waits for the eventfd and reads its 8 bytes.
 * The thread then calls bb_lane_take_late() for each lane, and after that bb_worker_take_overdue(), which
 * returns true if a request has passed request_timeout since its last call. If so, the host finds these
 * requests by bb_lane_take_overdue(), logs them, and calls bb_worker_overdue_is_logged(). BB_TELL_EMPTIED is
 * not sent before that. Any thread. */
int bb_worker_alarm(const struct bb_worker *worker);
bool bb_worker_take_overdue(struct bb_worker *worker);
void bb_worker_overdue_is_logged(struct bb_worker *worker);

/* worker_timeout (ms) limits how long a host that has a request may hang. It needs the I/O thread and a
 * scoreboard. While its lanes have requests, the host calls bb_worker_beat() several times within
 * worker_timeout. It does so from a thread that stands still when the host hangs (one that needs the global
 * lock). Another process reads `silent` and `taken` on the scoreboard, and ends this process if it hangs.
 * While `watch` is true, the I/O thread writes the labels of requests that take long. Any thread. */
void bb_worker_beat(struct bb_worker *worker);
void bb_worker_watch(struct bb_worker *worker, bool watch);

/* About the lane's current request.
 * bb_lane_take_late(): true once, after the request has passed request_timeout_soft.
 * bb_lane_take_overdue(): true once, after the request has passed request_timeout. *ms: since the host got
 * it.
 * bb_lane_remind(): makes the alarm readable again if bb_lane_take_late() would return true.
 * bb_lane_extend_time(): adds ms to both timeouts. The request may pass request_timeout_soft a second time.
 * Any thread. During the call the host must keep other threads from using the lane, so that the request does
 * not change. */
bool bb_lane_take_late(struct bb_lane *lane);
bool bb_lane_take_overdue(struct bb_lane *lane, uint64_t *ms);
void bb_lane_remind(struct bb_lane *lane);
void bb_lane_extend_time(struct bb_lane *lane, uint64_t ms);

/* Messages of a worker to the process that is to replace it. */
enum bb_tell {
    BB_TELL_OVERDUE, /* a request has passed request_timeout, and other lanes can serve */
    BB_TELL_STUCK,   /* each lane has such a request: the worker drains (BB_QUEUE_LEAVE) */
    BB_TELL_EMPTIED, /* after BB_TELL_STUCK: all other connections were ended or passed on */
    BB_TELL_STARVED, /* for 5 s the worker has had no connection, and no descriptor for one */
    BB_TELLS,
};

/* Sets the socket `fd` to which the I/O thread and the lanes send bytes[tell]. They send without the host,
 * which may hang, and do not wait if the socket is full. The caller owns fd and keeps it open until the
 * worker is freed. Call this before bb_worker_start_io_thread(). */
void bb_worker_tell(struct bb_worker *worker, int fd, const char bytes[BB_TELLS]);

#endif
