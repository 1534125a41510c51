/* scoreboard.h: what the lanes of all processes of a server are doing, for each to see: one cache line for a
 * lane, in memory that they share. Written by its lane alone, read by anyone without a lock. What it says of
 * a process that was killed may be old: nobody relies on it. Used by the lanes. */
#ifndef BB_SCOREBOARD_H
#define BB_SCOREBOARD_H

#include "bontebok.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BB_CACHE_LINE 64

/* ms. A lane that is idle takes what comes sooner. */
#define BB_PROMPT 50

/* A lane says that it is idle when it begins to wait. If its process is stopped, that is not true any more. A
 * lane that does not take what waits for it is doubted; if it has not moved some time later, nobody relies on
 * it. When it moves, it is neither. */
enum bb__scoreboard_idle {
    BB_IDLE_NOT,
    BB_IDLE,         /* it waits for something to do */
    BB_IDLE_DOUBTED, /* and something waited for it */
    BB_IDLE_SILENT,  /* and it did not take it */
};

struct bb__slot {
    _Alignas(BB_CACHE_LINE) atomic_int pid; /* 0: it is nobody's */
    atomic_uchar idle;                      /* enum bb__scoreboard_idle */
    atomic_bool leaves;                     /* its worker drains */
    atomic_bool paused;                     /* it has no room for more */
    atomic_bool done;            /* it drains, and none of its connections may bring another request */
    atomic_uint_fast64_t taking; /* 1 + bytes per second that its client takes; 0: it does not wait for it */
    /* For those who watch, nothing goes by it. */
    atomic_uint_fast64_t requests;   /* that the host was given */
    atomic_uint_fast64_t began;      /* ms, when it was given the one that it has; 0: it has none */
    atomic_uint_fast64_t queue_time; /* us, of that one, or the last */
    /* Written seldom. */
    _Alignas(BB_CACHE_LINE) atomic_uint_fast64_t beat; /* ms, when its host moved last; 0: nobody knows */
    atomic_uint_fast64_t labelled;                     /* `requests`, when the label was written */
    char label[BB_SCOREBOARD_LABEL_MAX];
};

struct bb_scoreboard {
    atomic_uint used; /* lines from here on were never anybody's */
    unsigned count;
    _Alignas(BB_CACHE_LINE) atomic_uint_fast64_t turns; /* the shared queue's */
    atomic_int queue_reaper;                            /* pid of who minds those that wait; 0: nobody */
    atomic_uint_fast64_t slow_readers, slow_senders;    /* that were ended as there was no room */
    struct bb__slot slots[];
};

/* A line for a lane of this process, which gives it back; NULL: there is none left. */
struct bb__slot *bb__scoreboard_claim(struct bb_scoreboard *scoreboard);
void bb__scoreboard_give_back(struct bb__slot *slot);

/* How many lanes of other processes wait for something to do, and would take it; `most` is enough. */
unsigned bb__scoreboard_idle_elsewhere(const struct bb_scoreboard *scoreboard, int own_pid, unsigned most);

/* Something waits that lanes of other processes would take if they were idle: those that say so are doubted.
 * It still waits some time later: those that were doubted are idle no more, until they move. */
void bb__scoreboard_doubt(struct bb_scoreboard *scoreboard, int own_pid);
void bb__scoreboard_blame(struct bb_scoreboard *scoreboard, int own_pid);

/* How many lanes of all processes do. */
unsigned bb__scoreboard_idle(const struct bb_scoreboard *scoreboard, unsigned most);

/* What all lanes have had, and how many of them could have had more: who leaves, has no room or has had the
 * same request for long could not. now: ms. */
struct bb__scoreboard_sum {
    uint64_t requests;
    unsigned lanes;
};
struct bb__scoreboard_sum bb__scoreboard_sum(const struct bb_scoreboard *scoreboard, uint64_t now);

/* How many lanes there are that stay, how many of them wait for their clients, and how many of these for a
 * client that is slower than that of the given line. */
struct bb__scoreboard_waits {
    unsigned lanes, waiting, slower;
};
struct bb__scoreboard_waits bb__scoreboard_waits(const struct bb_scoreboard *scoreboard,
                                                 const struct bb__slot *own);

/* One process at a time minds those that wait. False: another one does. */
bool bb__scoreboard_begin_reaping(struct bb_scoreboard *scoreboard, int own_pid);
void bb__scoreboard_end_reaping(struct bb_scoreboard *scoreboard);

/* Whether there is another process that goes on serving. */
bool bb__scoreboard_has_siblings(const struct bb_scoreboard *scoreboard, int own_pid);

/* Whether there is another process that has not ended. */
bool bb__scoreboard_has_others(const struct bb_scoreboard *scoreboard, int own_pid);

/* Whether the other lanes of all processes are done. all: else lanes that do not drain are left out. */
bool bb__scoreboard_others_are_done(const struct bb_scoreboard *scoreboard, const struct bb__slot *own,
                                    bool all);

/* Whether all lanes of another process wait for something to do, and would take it. */
bool bb__scoreboard_process_is_idle(const struct bb_scoreboard *scoreboard, int own_pid);

/* The request that the lane has. NULL is allowed. */
void bb__scoreboard_label(struct bb__slot *slot, struct bb_slice method, struct bb_slice path);

static inline void bb__scoreboard_set_idle(struct bb__slot *slot, bool idle)
{
    if (slot) atomic_store_explicit(&slot->idle, idle ? BB_IDLE : BB_IDLE_NOT, memory_order_relaxed);
}

/* Nobody else writes there: no step needs to be atomic with another. */
static inline void bb__scoreboard_begin(struct bb__slot *slot, uint64_t now, uint64_t queue_time)
{
    uint64_t requests = atomic_load_explicit(&slot->requests, memory_order_relaxed);
    atomic_store_explicit(&slot->requests, requests + 1, memory_order_relaxed);
    atomic_store_explicit(&slot->began, now, memory_order_relaxed);
    atomic_store_explicit(&slot->queue_time, queue_time, memory_order_relaxed);
}

static inline void bb__scoreboard_end(struct bb__slot *slot)
{
    if (slot) atomic_store_explicit(&slot->began, 0, memory_order_relaxed);
}

static inline void bb__scoreboard_set_done(struct bb__slot *slot, bool done)
{
    if (slot) atomic_store_explicit(&slot->done, done, memory_order_relaxed);
}

static inline void bb__scoreboard_set_paused(struct bb__slot *slot, bool paused)
{
    if (slot) atomic_store_explicit(&slot->paused, paused, memory_order_relaxed);
}

#endif
