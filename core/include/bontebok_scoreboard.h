/* bontebok_scoreboard.h: the part of bontebok.h, which includes it, that tells what the lanes of all
 * processes of a server do: for the lanes themselves, and for whoever shows it. Not for what they do it with.
 */
#ifndef BONTEBOK_SCOREBOARD_H
#define BONTEBOK_SCOREBOARD_H

#include <stdbool.h>
#include <stdint.h>

/* In memory that the processes share: made before they are forked. */
struct bb_scoreboard;

/* Out: *board with room for so many lanes, owned by the caller, freed with bb_scoreboard_free(); lanes that
 * find none are not seen. Errors: BB_ENOMEM. */
int bb_scoreboard_new(struct bb_scoreboard **scoreboard, unsigned lanes);

/* The lanes of a process that has ended are there no more. If they had not said so themselves, what they were
 * about to take is for others, which are told through `in`, where connections are put into the queue of
 * bb_worker_share_queue(); -1: there is none. */
void bb_scoreboard_clear(struct bb_scoreboard *scoreboard, int pid, int in);

#define BB_SCOREBOARD_LABEL_MAX 176

/* What a lane does, as it has shown it at about the same time. */
struct bb_scoreboard_lane {
    int pid;
    bool idle;           /* it waits for something to do */
    bool has_request;    /* its host has one; if neither, it is between two, or does something out of band */
    bool leaves;         /* its worker drains */
    uint64_t requests;   /* that its host was given */
    uint64_t taken;      /* ms, for which it has had the one that it has */
    uint64_t queue_time; /* microseconds, of that one, or else of the last */
    uint64_t silent;     /* ms, since its host's last bb_worker_beat(); UINT64_MAX: there was none */
    char label[BB_SCOREBOARD_LABEL_MAX]; /* NUL-terminated: method and path of a request that takes long, or
                                       their beginning; empty: nobody has written them */
};

/* Clients that were ended because they were slow and there was no room, since the scoreboard was made. */
struct bb_scoreboard_slow {
    uint64_t readers; /* of responses: reset */
    uint64_t senders; /* of requests: 408 */
};
struct bb_scoreboard_slow bb_scoreboard_slow(const struct bb_scoreboard *scoreboard);

/* A lane by its number, from 0 on; any process that has the scoreboard. BB_OK; BB_AGAIN: there is none of
 * that number now; BB_EOF: nor of any number from there on. */
int bb_scoreboard_look(const struct bb_scoreboard *scoreboard, unsigned number,
                       struct bb_scoreboard_lane *lane);

/* In this process only. No worker uses it any more. NULL is allowed. */
void bb_scoreboard_free(struct bb_scoreboard *scoreboard);

#endif
