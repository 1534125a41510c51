/* board.h: what the lanes of all processes of a server are doing, for each to see: one cache line for a lane,
 * in memory that they share. Written by its lane alone, read by anyone without a lock. What it says of a
 * process that was killed may be old: nobody relies on it. Used by the lanes. */
#ifndef BB_BOARD_H
#define BB_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>

#define BB_CACHE_LINE 64

struct bb__board_line {
    _Alignas(BB_CACHE_LINE) atomic_int pid; /* 0: it is nobody's */
    atomic_bool idle;                       /* it waits for something to do */
    atomic_bool leaves;                     /* its worker drains */
    atomic_bool paused;                     /* it has no room for more */
};

struct bb_board {
    atomic_uint used; /* lines from here on were never anybody's */
    unsigned count;
    struct bb__board_line lines[];
};

/* A line for a lane of this process, which gives it back; NULL: there is none left. */
struct bb__board_line *bb__board_claim(struct bb_board *board);
void bb__board_give_back(struct bb__board_line *line);

/* How many lanes of other processes wait for something to do, and would take it; `most` is enough. */
unsigned bb__board_idle_elsewhere(const struct bb_board *board, int own_pid, unsigned most);

/* Whether there is another process that goes on serving. */
bool bb__board_has_siblings(const struct bb_board *board, int own_pid);

/* Whether all lanes of another process wait for something to do, and would take it. */
bool bb__board_process_is_idle(const struct bb_board *board, int own_pid);

static inline void bb__board_set_idle(struct bb__board_line *line, bool idle)
{
    if (line) atomic_store_explicit(&line->idle, idle, memory_order_relaxed);
}

static inline void bb__board_set_paused(struct bb__board_line *line, bool paused)
{
    if (line) atomic_store_explicit(&line->paused, paused, memory_order_relaxed);
}

#endif
