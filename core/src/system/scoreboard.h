/* scoreboard.h: what the lanes of all processes of a server are doing: one slot for each lane, in shared
 * memory. A slot is written by its own process, except `idle`, which others may doubt. All processes read
 * it without a lock. The slot of a process that was killed may be out of date: nothing depends on it. Used
 * by lanes and I/O threads; bontebok_scoreboard.h is for hosts. */
#ifndef BB_SCOREBOARD_H
#define BB_SCOREBOARD_H

#include "base/tuning.h"
#include "bontebok.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BB_CACHE_LINE 64

/* A lane shows that it is idle when it begins to wait. If its process is stopped, this is no longer true.
 * If something waits and the lane does not take it, the lane is doubted. If it has not moved some time
 * later, it is silent, and does not count as idle. When it moves, it shows its state again. */
enum bb__scoreboard_idle {
    BB_IDLE_NOT,
    BB_IDLE,         /* it waits for something to do */
    BB_IDLE_DOUBTED, /* the same, but something waited for it */
    BB_IDLE_SILENT,  /* it did not take that */
};

struct bb__slot {
    _Alignas(BB_CACHE_LINE) atomic_int pid; /* 0: the slot is free */
    atomic_uchar idle;                      /* enum bb__scoreboard_idle */
    atomic_bool leaves;                     /* its worker drains */
    atomic_bool paused;                     /* it has no room for more connections */
    atomic_bool done;            /* it drains, and none of its connections can bring another request */
    atomic_uint_fast64_t taking; /* 1 + bytes per second that its client takes; 0: it does not wait */
    /* For observers, and for bb__scoreboard_sum(). */
    atomic_uint_fast64_t requests;   /* that the host has got so far */
    atomic_uint_fast64_t began;      /* ms, when the host got its current request; 0: it has none */
    atomic_uint_fast64_t queue_time; /* us, of the current request, or of the last one */
    /* Written rarely. */
    _Alignas(BB_CACHE_LINE) atomic_uint_fast64_t beat; /* ms, when its host moved last; 0: unknown */
    atomic_uint_fast64_t labelled;                     /* `requests`, when the label was written */
    char label[BB_SCOREBOARD_LABEL_MAX];
};

struct bb_scoreboard {
    atomic_uint used; /* slots from here on were never used */
    unsigned count;
    _Alignas(BB_CACHE_LINE) atomic_uint_fast64_t turns; /* of the shared queue */
    atomic_int queue_reaper;                            /* pid of the queue reaper (io_queue.c); 0: none */
    atomic_uint_fast64_t slow_readers, slow_senders; /* clients that were ended because there was no room */
    struct bb__slot slots[];
};

/* Returns a free slot for a lane of this process, which gives it back; NULL: none is left. */
struct bb__slot *bb__scoreboard_claim(struct bb_scoreboard *scoreboard);
void bb__scoreboard_give_back(struct bb__slot *slot);

/* Returns how many lanes of other processes are idle and would take a request. Counts up to `most`. */
unsigned bb__scoreboard_idle_elsewhere(const struct bb_scoreboard *scoreboard, int own_pid, unsigned most);

/* bb__scoreboard_doubt(): something waits that idle lanes of other processes should take. All lanes that
 * show BB_IDLE are doubted. bb__scoreboard_blame(): it still waits some time later. All doubted lanes do
 * not count as idle until they move. */
void bb__scoreboard_doubt(struct bb_scoreboard *scoreboard, int own_pid);
void bb__scoreboard_blame(struct bb_scoreboard *scoreboard, int own_pid);

/* The same for the lanes of all processes. */
unsigned bb__scoreboard_idle(const struct bb_scoreboard *scoreboard, unsigned most);

/* requests: the sum of all lanes. lanes: how many lanes could have served more. A lane that drains, has no
 * room or has had the same request for 100 ms could not. now: ms. */
struct bb__scoreboard_sum {
    uint64_t requests;
    unsigned lanes;
};
struct bb__scoreboard_sum bb__scoreboard_sum(const struct bb_scoreboard *scoreboard, uint64_t now);

/* lanes: how many lanes do not drain. waiting: how many of these wait for their clients. slower: how many
 * of the waiting lanes have a slower client than the lane of the given slot. */
struct bb__scoreboard_waits {
    unsigned lanes, waiting, slower;
};
struct bb__scoreboard_waits bb__scoreboard_waits(const struct bb_scoreboard *scoreboard,
                                                 const struct bb__slot *own);

/* Only one process at a time is the queue reaper. False: another process is. */
bool bb__scoreboard_begin_reaping(struct bb_scoreboard *scoreboard, int own_pid);
void bb__scoreboard_end_reaping(struct bb_scoreboard *scoreboard);

/* Returns whether there is another process that does not drain. */
bool bb__scoreboard_has_siblings(const struct bb_scoreboard *scoreboard, int own_pid);

/* Returns whether there is another process that has not ended. */
bool bb__scoreboard_has_others(const struct bb_scoreboard *scoreboard, int own_pid);

/* Returns whether the other lanes of all processes are done. If `all` is false, only lanes that drain are
 * considered. */
bool bb__scoreboard_others_are_done(const struct bb_scoreboard *scoreboard, const struct bb__slot *own,
                                    bool all);

/* Returns whether there is another process all of whose lanes are idle and would take a request. */
bool bb__scoreboard_process_is_idle(const struct bb_scoreboard *scoreboard, int own_pid);

/* Shows the request that the lane has. slot: NULL is allowed. */
void bb__scoreboard_label(struct bb__slot *slot, struct bb_slice method, struct bb_slice path);

static inline void bb__scoreboard_set_idle(struct bb__slot *slot, bool idle)
{
    if (slot) atomic_store_explicit(&slot->idle, idle ? BB_IDLE : BB_IDLE_NOT, memory_order_relaxed);
}

/* No other thread writes these fields, so the steps need not be atomic together. */
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
