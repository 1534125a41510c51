/* worker_intake.h: what the worker knows of a lane: where the lane takes connections from. The sources are
 * the listeners and the shared queue. They are in the lane's set while the lane is to hear of them. Embedded
 * in the lane, listed by the worker. */
#ifndef BB_WORKER_INTAKE_H
#define BB_WORKER_INTAKE_H

#include "bontebok.h"
#include "system/poller.h"
#include "system/scoreboard.h"

struct bb_worker;

struct bb__intake {
    struct bb__intake *next; /* of the worker's; its lock guards it */
    struct bb__poller *poller;
    struct bb__slot *slot; /* NULL: there is none */
    int wake_fd;           /* eventfd */
    atomic_bool waiting;   /* the lane waits, or was woken and has not looked at what for */
    bool watching;         /* the sources are to be in the set; the worker's lock guards it */
    bool held;             /* but the I/O thread has the set; the worker's lock guards it */
    atomic_bool unwatched; /* but could not be put there */
};

/* A lane begins, and ends. */
void bb__worker_add_lane(struct bb_worker *worker, struct bb__intake *lane);
void bb__worker_remove_lane(struct bb_worker *worker, struct bb__intake *lane);

/* For any thread that holds the worker's lock: the sources, as far as they are to be in the set. False: there
 * was no room for all of them. */
bool bb__intake_add_sources(struct bb__intake *lane, struct bb_worker *worker);
void bb__intake_remove_sources(struct bb__intake *lane, const struct bb_worker *worker);

/* Has every lane leave the listeners' queues and the shared queue to other processes, which are idle, or go
 * back there. Lanes of one host may have to share a lock, and run one at a time. */
void bb__worker_pause_accepting(struct bb_worker *worker, bool pause);

/* The sources leave every set for this lane, which steps aside, and come back. False: it does not. */
bool bb__worker_step_aside(struct bb_worker *worker, struct bb__intake *lane, enum bb_aside when);
void bb__worker_step_back(struct bb_worker *worker, struct bb__intake *lane);

/* How many lanes wait. A connection wakes one of all the lanes that wait for it (EPOLLEXCLUSIVE). If that is
 * one of ours, nobody else comes for it. The caller has the lock. */
int bb__worker_count_waiting(const struct bb_worker *worker);

#endif
