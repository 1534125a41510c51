/* worker_intake.h: the part of a lane that the worker knows. A lane takes connections from its sources: the
 * listeners and the shared queue. The sources are in the lane's set while the lane waits for them. Embedded
 * in the lane, and in the worker's list. */
#ifndef BB_WORKER_INTAKE_H
#define BB_WORKER_INTAKE_H

#include "bontebok.h"
#include "system/poller.h"
#include "system/scoreboard.h"

struct bb_worker;

struct bb__intake {
    struct bb__intake *next; /* the worker's list; its lock guards it */
    struct bb__poller *poller;
    struct bb__slot *slot; /* NULL: there is none */
    int wake_fd;           /* eventfd */
    atomic_bool waiting;   /* the lane waits, or was woken and has not looked at its set yet */
    bool watching;         /* the sources should be in the set; the worker's lock guards it */
    bool held;             /* the I/O thread has the set, without the sources; the worker's lock guards it */
    atomic_bool unwatched; /* the sources should be in the set, but there was no room for them */
};

void bb__worker_add_lane(struct bb_worker *worker, struct bb__intake *lane);
void bb__worker_remove_lane(struct bb_worker *worker, struct bb__intake *lane);

/* Puts the sources into the set if they should be there now. False: there was no room for all of them. For
 * any thread that holds the worker's lock. */
bool bb__intake_add_sources(struct bb__intake *lane, struct bb_worker *worker);

/* Takes the sources out of the set, under the same lock. */
void bb__intake_remove_sources(struct bb__intake *lane, const struct bb_worker *worker);

/* pause: takes the sources out of the sets of all lanes, so that idle lanes of other processes get the
 * connections. Otherwise puts the sources back. If the lanes of a host share a lock, an idle lane of this
 * worker could not serve them now. */
void bb__worker_pause_accepting(struct bb_worker *worker, bool pause);

/* For bb_lane_step_aside(): takes the sources out of all sets. False: a condition does not hold. */
bool bb__worker_step_aside(struct bb_worker *worker, struct bb__intake *lane, enum bb_aside when);

/* For bb_lane_step_back(): puts the sources back. */
void bb__worker_step_back(struct bb_worker *worker, struct bb__intake *lane);

/* Returns how many lanes wait. A connection wakes only one of the lanes of all processes that wait for it
 * (EPOLLEXCLUSIVE). If a lane of this worker is woken, no other process takes the connection. The caller has
 * the lock. */
int bb__worker_count_waiting(const struct bb_worker *worker);

#endif
