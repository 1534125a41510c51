/* worker_intake.h: the part of a lane that the worker uses. A lane takes connections from its sources: the
 * listeners and the shared queue. The sources are in the lane's epoll set while the lane waits for
 * connections. struct bb__intake is a member of struct bb_lane, and is in the worker's list of lanes. */
#ifndef BB_WORKER_INTAKE_H
#define BB_WORKER_INTAKE_H

#include "bontebok.h"
#include "sockets/poller.h"
#include "sockets/wakeup.h"
#include "system/scoreboard.h"

struct bb_worker;

struct bb__intake {
    struct bb__intake *next; /* the worker's list of lanes (guarded by the worker's lock) */
    struct bb__poller *poller;
    struct bb__slot *slot;    /* NULL: there is none */
    struct bb__wakeup wakeup; /* wakes the lane */
    atomic_bool waiting;      /* the lane waits, or was woken and has not read its events yet */
    bool watching;            /* the sources should be in the set (guarded by the worker's lock) */
    bool held;                /* the I/O thread has the set, without sources (guarded by the worker's lock) */
    bool avoids_queue;        /* the shared queue must not be in the set (guarded by the worker's lock) */
    bool ended;               /* the lane has drained (guarded by the worker's lock) */
    atomic_bool unwatched;    /* the sources should be in the set, but there was no room for them */
};

void bb__worker_add_lane(struct bb_worker *worker, struct bb__intake *lane);
void bb__worker_remove_lane(struct bb_worker *worker, struct bb__intake *lane);

/* Puts the sources into the set if they should be there now. False: there was no room for all of them. Any
 * thread may call this if it holds the worker's lock. */
bool bb__intake_add_sources(struct bb__intake *lane, struct bb_worker *worker);

/* Takes the sources out of the set. The caller has the worker's lock. */
void bb__intake_remove_sources(struct bb__intake *lane, const struct bb_worker *worker);

/* pause is true: takes the sources out of the sets of all lanes, so that idle lanes of other processes get
 * new connections. An idle lane of this worker could not serve these connections while a busy lane holds the
 * global lock of the host (the program that calls the core). pause is false: puts the sources back. */
void bb__worker_pause_accepting(struct bb_worker *worker, bool pause);

/* Does the work of bb_lane_step_aside(): takes the sources out of all sets. False: a condition of
 * bb_lane_step_aside() does not hold, and nothing has changed. */
bool bb__worker_step_aside(struct bb_worker *worker, struct bb__intake *lane, enum bb_aside when);

/* Does the work of bb_lane_step_back(): puts the sources back. */
void bb__worker_step_back(struct bb_worker *worker, struct bb__intake *lane);

/* Returns how many lanes of this worker wait. For each connection the kernel wakes only one lane of all
 * processes (EPOLLEXCLUSIVE). If the woken lane belongs to this worker, no other process accepts the
 * connection. The caller has the lock. */
int bb__worker_count_waiting(const struct bb_worker *worker);

#endif
