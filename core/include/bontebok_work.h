/* bontebok_work.h: the part of bontebok.h about work that the host (the program that calls the core) does
 * outside of requests. bontebok.h includes this file. */
#ifndef BONTEBOK_WORK_H
#define BONTEBOK_WORK_H

struct bb_lane;

/* ---- work after a response, for example callbacks of the application ---- */

/* Between these two calls the lane serves no requests, because its host works. The I/O thread, if started,
 * serves the lane's connections as during a request. The other lanes of the worker continue. Call them after
 * bb_reply_end() or bb_reply_abort(), and before bb_lane_next(). Never blocks. */
void bb_lane_begin_work(struct bb_lane *lane);
void bb_lane_end_work(struct bb_lane *lane);

/* ---- out-of-band work: the host does it between two requests, so that no client waits for it ---- */

enum bb_aside {
    BB_ASIDE_IDLE,   /* begin only if the worker is idle: bb_lane_next() has returned BB_AGAIN, no other lane
                        has a request, and none of this lane's descriptors is ready */
    BB_ASIDE_ANYWAY, /* begin between any two requests of this lane */
};

/* Begins out-of-band work: the worker accepts no connections until bb_lane_step_back(). New connections go to
 * other processes, or wait. The I/O thread, if started, passes on requests of this lane's connections. Do not
 * call bb_lane_next() for this lane before bb_lane_step_back(). Never blocks. Returns BB_OK; BB_AGAIN (no
 * effect): the condition of `when` does not hold, another lane works out of band, or the worker drains. */
int bb_lane_step_aside(struct bb_lane *lane, enum bb_aside when);

/* Ends this lane's out-of-band work, if there is any: the worker accepts connections again. */
void bb_lane_step_back(struct bb_lane *lane);

#endif
