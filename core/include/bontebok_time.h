/* bontebok_time.h: the part of bontebok.h for requests with a timeout: how the host, and the process that
 * watches it, learn that a request has passed its timeout. bontebok.h says what the client gets, and includes
 * this file. */
#ifndef BONTEBOK_TIME_H
#define BONTEBOK_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct bb_lane;
struct bb_worker;

/* bb_worker_alarm() returns an eventfd, which the worker owns. It becomes readable when a request passes
 * request_timeout_soft or request_timeout. A thread of the host waits for it, reads its 8 bytes, calls
 * bb_lane_take_late() for each lane, and then bb_worker_take_overdue(): true if a request has passed
 * request_timeout since the last call. If so, the host finds the requests by bb_lane_take_overdue(), logs
 * them, and calls bb_worker_overdue_is_logged(). Until then BB_TELL_EMPTIED is not sent. Any thread. */
int bb_worker_alarm(const struct bb_worker *worker);
bool bb_worker_take_overdue(struct bb_worker *worker);
void bb_worker_overdue_is_logged(struct bb_worker *worker);

/* worker_timeout (ms) limits how long a host may have a request and not move. It needs the I/O thread and a
 * scoreboard. While its lanes have requests, the host calls bb_worker_beat() several times within
 * worker_timeout, from a thread that stands still when the host hangs (it needs the global lock). Another
 * process looks at `silent` and `taken` on the scoreboard, and ends this process. While `watch` is true, the
 * I/O thread writes the labels of requests that take long. Any thread. */
void bb_worker_beat(struct bb_worker *worker);
void bb_worker_watch(struct bb_worker *worker, bool watch);

/* About the lane's current request. bb_lane_take_late() is true once after it has passed
 * request_timeout_soft, bb_lane_take_overdue() once after it has passed request_timeout, with *ms for which
 * the host has had it. bb_lane_remind() makes the alarm readable again if bb_lane_take_late() is still to be
 * called. bb_lane_extend_time() adds ms to both timeouts; the soft one may pass again. Any thread. The host
 * sees to it that no other thread uses the lane meanwhile, as the call means this request. */
bool bb_lane_take_late(struct bb_lane *lane);
bool bb_lane_take_overdue(struct bb_lane *lane, uint64_t *ms);
void bb_lane_remind(struct bb_lane *lane);
void bb_lane_extend_time(struct bb_lane *lane, uint64_t ms);

/* Messages of a worker to the process that is to replace it. */
enum bb_tell {
    BB_TELL_OVERDUE, /* a request has passed request_timeout, and other lanes can serve */
    BB_TELL_STUCK,   /* the request of every lane has: the worker drains (BB_QUEUE_LEAVE) */
    BB_TELL_EMPTIED, /* after BB_TELL_STUCK: all other connections were ended or passed on */
    BB_TELL_STARVED, /* for 5 s the worker has had no connection, and no descriptor for one */
    BB_TELLS,
};

/* Has the I/O thread and the lanes send bytes[tell] to fd, a socket, because the host may hang. They do not
 * wait if the socket is full. The caller keeps fd, which has to outlive the worker. Call this before
 * bb_worker_start_io_thread(). */
void bb_worker_tell(struct bb_worker *worker, int fd, const char bytes[BB_TELLS]);

#endif
