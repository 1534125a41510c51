/* bontebok_scoreboard.h: the part of bontebok.h that shows what the lanes of all processes of a server do.
 * Lanes use it, and so does a host that shows or watches them. bontebok.h includes it. */
#ifndef BONTEBOK_SCOREBOARD_H
#define BONTEBOK_SCOREBOARD_H

#include <stdbool.h>
#include <stdint.h>

/* Memory that processes share, with a slot for each lane. Create it before the processes are forked. */
struct bb_scoreboard;

/* Creates a scoreboard with `lanes` slots. The caller owns *scoreboard and frees it with
 * bb_scoreboard_free(). A lane that finds no free slot serves, but is not shown. Errors: BB_ENOMEM. */
int bb_scoreboard_new(struct bb_scoreboard **scoreboard, unsigned lanes);

/* Clears the slots of a process that has ended. A lane that was killed may have been woken for a connection
 * that it did not accept. So for each slot that its lane has not cleared, a message to `in` wakes another
 * lane. in: as in bb_worker_share_queue(); -1: none. */
void bb_scoreboard_clear(struct bb_scoreboard *scoreboard, int pid, int in);

#define BB_SCOREBOARD_LABEL_MAX 176

/* The state of a lane. A lane that is neither idle nor has_request is between two requests, or out of band.
 * The fields are read one after the other, so they may be some moments apart. */
struct bb_scoreboard_lane {
    int pid;
    bool idle;           /* the lane waits for something to do */
    bool has_request;    /* the host has a request */
    bool leaves;         /* the worker drains */
    uint64_t requests;   /* number of requests that the host was given */
    uint64_t taken;      /* ms since the host got the current request */
    uint64_t queue_time; /* us, of the current request; between requests: of the last one */
    uint64_t silent;     /* ms since the host's last bb_worker_beat(); UINT64_MAX: there was none */
    char label[BB_SCOREBOARD_LABEL_MAX]; /* NUL-terminated: method and path of a request that takes long, cut
                                       to this size; empty: not written */
};

/* Counts connections of slow clients that were ended to make room for others, since the scoreboard was
 * created. */
struct bb_scoreboard_slow {
    uint64_t readers; /* clients that read a response: the connection was reset */
    uint64_t senders; /* clients that sent a request: they got 408 */
};
struct bb_scoreboard_slow bb_scoreboard_slow(const struct bb_scoreboard *scoreboard);

/* Reads a slot, in any process that has the scoreboard. number: 0 is the first slot. Returns BB_OK with
 * *lane, which the caller owns; BB_AGAIN: the slot has no lane now; BB_EOF: neither this slot nor a later one
 * has had a lane. */
int bb_scoreboard_look(const struct bb_scoreboard *scoreboard, unsigned number,
                       struct bb_scoreboard_lane *lane);

/* Frees the scoreboard in this process only. No worker of this process may use it any more. NULL is
 * allowed. */
void bb_scoreboard_free(struct bb_scoreboard *scoreboard);

#endif
