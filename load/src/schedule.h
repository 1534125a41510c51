/* schedule.h: when the requests of a run are due. One plan for the run, one schedule for each thread of it.
 *
 * Closed loop: a request is due whenever a connection is free; the threads draw from one common count, so
 * that a slow one does not keep the others waiting at the end. Open loop (--rate): due times are fixed before
 * anything is known of the server, and thread k has every k-th of them. */
#ifndef SCHEDULE_H
#define SCHEDULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct plan {
    uint64_t start_ns;
    uint64_t end_ns; /* nothing is due from here on; UINT64_MAX: no such time */
    double rate;     /* 0: closed loop */
    unsigned threads;
    uint64_t requests;      /* UINT64_MAX: no such limit */
    _Atomic uint64_t drawn; /* of them, in a closed loop */
};

struct schedule {
    struct plan *plan;
    unsigned thread;
    bool is_over;
    uint64_t index;   /* open loop: how many were drawn */
    uint64_t due_ns;  /* open loop: of the next one */
    uint64_t last_ns; /* when the last one that was drawn was due */
};

enum schedule_news { SCHEDULE_DUE, SCHEDULE_LATER, SCHEDULE_OVER };

void schedule_init(struct schedule *schedule, struct plan *plan, unsigned thread);

/* Draws a request that is due at `now`. SCHEDULE_DUE: *due_ns is since when. SCHEDULE_LATER: *due_ns is from
 * when on. SCHEDULE_OVER: there are no more, now or ever. */
enum schedule_news schedule_draw(struct schedule *schedule, uint64_t now_ns, uint64_t *due_ns);

#endif
