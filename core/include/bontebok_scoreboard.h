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
 * that it did not take: for each lane that has not cleared its slot itself, another lane is woken by a
 * message to `in`. in: the end of the pair of bb_worker_share_queue() to which connections are sent; -1:
 * none. */
void bb_scoreboard_clear(struct bb_scoreboard *scoreboard, int pid, int in);

#define BB_SCOREBOARD_LABEL_MAX 176

/* The state of a lane. The fields are read one after the other, so they may be some moments apart. */
struct bb_scoreboard_lane {
    int pid;
    bool idle;           /* the lane waits for something to do */
    bool has_request;    /* the host has a request; neither: between two requests, or out of band */
    bool leaves;         /* the worker drains */
    uint64_t requests;   /* that the host was given */
    uint64_t taken;      /* ms, for which the host has had the current request */
    uint64_t queue_time; /* us, of the current request, or else of the last one */
    uint64_t silent;     /* ms, since the host's last bb_worker_beat(); UINT64_MAX: there was none */
    char label[BB_SCOREBOARD_LABEL_MAX]; /* NUL-terminated: method and path of a request that takes long, cut
                                       if they are longer; empty: not written */
};

/* How many slow clients were ended to make room for others, since the scoreboard was created. */
struct bb_scoreboard_slow {
    uint64_t readers; /* of responses: reset */
    uint64_t senders; /* of requests: 408 */
};
struct bb_scoreboard_slow bb_scoreboard_slow(const struct bb_scoreboard *scoreboard);

/* Reads the slot `number`, from 0 on, in any process that has the scoreboard. Returns BB_OK with *lane, which
 * the caller owns; BB_AGAIN: the slot has no lane now; BB_EOF: neither this slot nor a later one has had a
 * lane. */
int bb_scoreboard_look(const struct bb_scoreboard *scoreboard, unsigned number,
                       struct bb_scoreboard_lane *lane);

/* Frees the scoreboard in this process only. No worker of this process may use it any more. NULL is
 * allowed. */
void bb_scoreboard_free(struct bb_scoreboard *scoreboard);

#endif
