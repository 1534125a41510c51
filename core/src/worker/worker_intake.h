/* worker_intake.h: the part of a lane that the worker knows: where the lane takes connections from. These
 * sources are the listeners and the shared queue. They are in the lane's set while the lane waits for
 * them. Embedded in the lane, and in the worker's list. */
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
    atomic_bool waiting;   /* the lane waits, or was woken and has not looked yet */
    bool watching;         /* the sources should be in the set; the worker's lock guards it */
    bool held;             /* but the I/O thread has the set; the worker's lock guards it */
    atomic_bool unwatched; /* but there was no room for the sources in the set */
};

/* Adds a lane that begins; removes a lane that ends. */
void bb__worker_add_lane(struct bb_worker *worker, struct bb__intake *lane);
void bb__worker_remove_lane(struct bb_worker *worker, struct bb__intake *lane);

/* For any thread that holds the worker's lock. Puts the sources into the set, if they should be there now;
 * takes them out. False: there was no room for all of them. */
bool bb__intake_add_sources(struct bb__intake *lane, struct bb_worker *worker);
void bb__intake_remove_sources(struct bb__intake *lane, const struct bb_worker *worker);

/* Takes the sources out of the sets of all lanes, so that idle lanes of other processes get the
 * connections; or puts them back. Lanes of one host may have to share a lock, and run one at a time. */
void bb__worker_pause_accepting(struct bb_worker *worker, bool pause);

/* Takes the sources out of all sets for this lane, which steps aside; puts them back. False: the lane
 * cannot step aside now. */
bool bb__worker_step_aside(struct bb_worker *worker, struct bb__intake *lane, enum bb_aside when);
void bb__worker_step_back(struct bb_worker *worker, struct bb__intake *lane);

/* Returns how many lanes wait. A connection wakes only one of the lanes that wait for it (EPOLLEXCLUSIVE).
 * If this is a lane of this worker, no other process takes the connection. The caller has the lock. */
int bb__worker_count_waiting(const struct bb_worker *worker);

#endif
