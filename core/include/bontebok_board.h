/* bontebok_board.h: the part of bontebok.h, which includes it, that tells what the lanes of all processes of
 * a server do: for the lanes themselves, and for whoever shows it. Not for what they do it with. */
#ifndef BONTEBOK_BOARD_H
#define BONTEBOK_BOARD_H

#include <stdbool.h>
#include <stdint.h>

/* In memory that the processes share: made before they are forked. */
struct bb_board;

/* Out: *board with room for so many lanes, owned by the caller, freed with bb_board_free(); lanes that find
 * none are not seen. Errors: BB_ENOMEM. */
int bb_board_new(struct bb_board **board, unsigned lanes);

/* The lanes of a process that has ended are there no more. If they had not said so themselves, what they were
 * about to take is for others, which are told through `in`, where connections are put into the queue of
 * bb_worker_relay(); -1: there is none. */
void bb_board_clear(struct bb_board *board, int pid, int in);

#define BB_BOARD_LABEL_MAX 176

/* What a lane does, as it has shown it at about the same time. */
struct bb_board_lane {
    int pid;
    bool idle;           /* it waits for something to do */
    bool has_request;    /* its host has one; if neither, it is between two, or does something out of band */
    bool leaves;         /* its worker drains */
    uint64_t requests;   /* that its host was given */
    uint64_t taken;      /* ms, for which it has had the one that it has */
    uint64_t queue_time; /* microseconds, of that one, or else of the last */
    uint64_t silent;     /* ms, since its host's last bb_worker_beat(); UINT64_MAX: there was none */
    char label[BB_BOARD_LABEL_MAX]; /* NUL-terminated: method and path of a request that takes long, or their
                                       beginning; empty: nobody has written them */
};

/* Clients that were ended because they were slow and there was no room, since the board was made. */
struct bb_board_slow {
    uint64_t readers; /* of responses: reset */
    uint64_t senders; /* of requests: 408 */
};
struct bb_board_slow bb_board_slow(const struct bb_board *board);

/* A lane by its number, from 0 on; any process that has the board. BB_OK; BB_AGAIN: there is none of that
 * number now; BB_EOF: nor of any number from there on. */
int bb_board_look(const struct bb_board *board, unsigned number, struct bb_board_lane *lane);

/* In this process only. No worker uses it any more. NULL is allowed. */
void bb_board_free(struct bb_board *board);

#endif
