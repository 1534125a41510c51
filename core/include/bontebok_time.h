/* bontebok_time.h: the part of bontebok.h about requests that take too long. It is for the host (the program
 * that calls the core), and for the parent process that watches the host. bontebok.h says what the client
 * gets, and includes this file. */
#ifndef BONTEBOK_TIME_H
#define BONTEBOK_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct bb_lane;
struct bb_worker;

/* bb_worker_alarm() returns a descriptor, which the worker owns. The descriptor becomes readable when a
 * request passes request_timeout_soft or request_timeout, and when bb_worker_event() has an event. A thread
 * of the host waits for the descriptor and reads its 8 bytes. This thread calls bb_worker_take_overdue(),
 * which returns true if a request has passed request_timeout since the last call, then bb_worker_event()
 * until there is no event, and then bb_lane_take_late() for each lane. If there was an overdue request, the
 * thread calls bb_lane_take_overdue() for each lane, logs the overdue requests, and calls
 * bb_worker_overdue_is_logged(). Any thread. */
int bb_worker_alarm(const struct bb_worker *worker);
bool bb_worker_take_overdue(struct bb_worker *worker);
void bb_worker_overdue_is_logged(struct bb_worker *worker);

/* worker_timeout (ms) limits how long a host with a request may hang. It needs the I/O thread and a
 * scoreboard. While lanes have requests, the host calls bb_worker_beat() several times within worker_timeout.
 * The calling thread must take the host's global lock for each call, so that the calls stop when the host
 * hangs. Another process reads `silent` and `taken` on the scoreboard, and kills this process if it hangs.
 * While `watch` is true, the I/O thread writes the label of a request to the scoreboard when the request has
 * taken a second, or a quarter of worker_timeout or of request_timeout if that is shorter. If the lane has
 * other connections, or the worker has other lanes, the I/O thread does this always. Any thread. */
void bb_worker_beat(struct bb_worker *worker);
void bb_worker_watch(struct bb_worker *worker, bool watch);

/* Calls about the lane's current request.
 * bb_lane_take_late(): true once, after the request has passed request_timeout_soft.
 * bb_lane_take_overdue(): true once, after the request has passed request_timeout. *ms: time that the host
 * has had the request.
 * bb_lane_remind(): makes the alarm readable again if bb_lane_take_late() would return true.
 * bb_lane_extend_time(): adds ms to both timeouts. The request may pass request_timeout_soft a second time.
 * Any thread. During the call the host must keep the lane's thread from ending the request. */
bool bb_lane_take_late(struct bb_lane *lane);
bool bb_lane_take_overdue(struct bb_lane *lane, uint64_t *ms);
void bb_lane_remind(struct bb_lane *lane);
void bb_lane_extend_time(struct bb_lane *lane, uint64_t ms);

/* Messages of a worker to its parent process, which replaces the worker. */
enum bb_tell {
    BB_TELL_OVERDUE, /* a request has passed request_timeout; other lanes can serve */
    BB_TELL_STUCK,   /* each lane has a request past request_timeout: the worker drains (BB_QUEUE_LEAVE) */
    BB_TELL_EMPTIED, /* after BB_TELL_STUCK: all other connections were closed or passed on */
    BB_TELL_STARVED, /* for 5 s the worker has had no connection, and no free descriptor for one */
    BB_TELLS,
};

/* Sets the socket `fd` for these messages. The core sends the byte bytes[tell]; the host does not send it,
 * because the host may hang. If the socket is full, the message is dropped. host_logs: true: a thread of the
 * host logs overdue requests (see bb_worker_alarm()), and BB_TELL_EMPTIED is sent only after
 * bb_worker_overdue_is_logged(). false: the host has no such thread, and BB_TELL_EMPTIED does not wait. The
 * parent logs the label on the scoreboard. It reads the label before it kills the host, and before
 * bb_scoreboard_clear(). The caller owns fd and keeps it open until the worker is freed. Call this before
 * bb_worker_start_io_thread(). */
void bb_worker_tell(struct bb_worker *worker, int fd, const char bytes[BB_TELLS], bool host_logs);

#endif
