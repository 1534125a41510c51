/* scoreboard.h: shows what the lanes of all processes of a server are doing. Each lane has a slot in shared
 * memory, which all processes read without a lock. The lane's process writes the slot. Other processes only
 * change `idle` (enum bb__scoreboard_idle) and clear the slots of dead processes. The slot of a killed
 * process may be out of date, but nothing depends on such a slot. Used by lanes and I/O threads. The host
 * (the program that calls the core) uses bontebok_scoreboard.h.
 *
 * A worker has code of the application, which may overwrite this memory with any bytes. The other processes
 * survive this: no number from the memory is an index or a size, and none bounds a loop, except `used`, which
 * bb__scoreboard_used() limits. The memory has no bool, because C allows only the bytes 0 and 1 for it. A sum
 * of numbers from the memory may overflow, so it is unsigned. A pid may be that of any process, or negative,
 * so no signal is sent to it. */
#ifndef BB_SCOREBOARD_H
#define BB_SCOREBOARD_H

#include "base/tuning.h"
#include "bontebok.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BB_CACHE_LINE 64

/* A lane sets BB_IDLE when it begins to wait. If its process is frozen (SIGSTOP), the slot still has BB_IDLE.
 * So if a request waits although the slot has BB_IDLE, another process changes the state to BB_IDLE_DOUBTED.
 * If a request still waits BB_PROMPT ms later, the state becomes BB_IDLE_SILENT. When the lane runs again,
 * the lane sets the state itself. */
enum bb__scoreboard_idle {
    BB_IDLE_NOT,
    BB_IDLE,         /* the lane waits for something to do */
    BB_IDLE_DOUBTED, /* as BB_IDLE, but the lane has not taken a waiting request yet */
    BB_IDLE_SILENT,  /* the lane did not take the request, so the lane does not count as idle */
};

/* A lane, or the lanes that a connection is for (canary.h). */
enum bb__group {
    BB_GROUP_ANY, /* there is no canary, or it is not known whether the lane belongs to the canary */
    BB_GROUP_FORMER,
    BB_GROUP_CANARY,
};

struct bb__slot {
    _Alignas(BB_CACHE_LINE) atomic_int pid; /* 0: the slot is free */
    atomic_uchar idle;                      /* enum bb__scoreboard_idle */
    atomic_uchar leaves;                    /* bool: the worker of the lane drains (ends gracefully) */
    atomic_uchar paused;                    /* bool: the lane has no room for more connections */
    atomic_uchar done; /* bool: the lane drains, and none of its connections can bring another request */
    atomic_uint_fast64_t taking; /* bytes per second that the awaited client takes, plus 1; 0: no client */
    /* For observers, and for bb__scoreboard_sum(). */
    atomic_uint_fast64_t requests;   /* requests that the host has got so far */
    atomic_uint_fast64_t began;      /* ms, when the host got its current request; 0: the host has none */
    atomic_uint_fast64_t queue_time; /* us, of the current or the last request */
    atomic_uint_fast64_t errors;     /* responses 5xx of the host, and requests past request_timeout */
    atomic_uchar canary;             /* bool: see canary.h */
    atomic_uint_fast64_t files;      /* responses with files of `public` that the lane has sent so far */
    /* Written rarely. */
    _Alignas(BB_CACHE_LINE) atomic_uint_fast64_t beat; /* ms, of the last bb_worker_beat(); 0: none */
    atomic_uint detached;          /* connections that have left the worker; only in one slot of the worker */
    atomic_uchar waits;            /* bool: bb_worker_show_detached() */
    atomic_uint_fast64_t labelled; /* value of `requests` when the label was written */
    char label[BB_SCOREBOARD_LABEL_MAX];
    /* Only the lane writes these two. */
    atomic_uint_fast64_t held; /* 3 times the number of the request, plus enum bb_held */
    char held_label[BB_SCOREBOARD_LABEL_MAX];
};

/* Raise BB_LAYOUT with each change of struct bb__scoreboard_memory, of struct bb__slot, of struct
 * bb__shared_stamp (shared_queue.h), or of LAYOUT (conn_transfer.c). A field in a gap needs none, if 0 means
 * that nobody has written it. During a deploy, processes of two versions share the scoreboard and the shared
 * queue only if the two versions have the same BB_LAYOUT. */
#define BB_LAYOUT 2

struct bb__scoreboard_layout {
    char name[12];
    uint32_t version, header_size, slot_size;
    uint32_t count; /* of slots */
};

struct bb__scoreboard_memory {
    struct bb__scoreboard_layout layout;
    atomic_uint used;        /* see bb__scoreboard_used(); slots from this number on were never used */
    atomic_uchar draining;   /* bool: bb_scoreboard_set_draining(). Each response reads this cache line */
    atomic_uchar taken_over; /* bool: bb_scoreboard_set_taken_over() */
    struct {                 /* canary.h */
        atomic_uint_fast64_t until; /* ms; then the groups get no shares any more. 0: there is no canary */
        atomic_int lanes, former_lanes;
        atomic_int ahead; /* how far the canary has more than its share, in requests times lanes */
    } canary;
    _Alignas(BB_CACHE_LINE) atomic_uint_fast64_t turns; /* requests sent to the shared queue */
    atomic_int queue_reaper;                            /* pid of the queue reaper (io_queue.c); 0: none */
    atomic_uint_fast64_t slow_readers, slow_senders;    /* see struct bb_scoreboard_slow */
    atomic_uint_fast64_t canary_passed; /* ms, when a connection was last passed on for canary.h; 0: never */
    struct bb__slot slots[];
};

/* In the memory of this process. */
struct bb_scoreboard {
    struct bb__scoreboard_memory *memory;
    unsigned count; /* of slots that the memory has */
    bool writable;
};

/* Slots from this number on were never used. The result is at most scoreboard->count. */
static inline unsigned bb__scoreboard_used(const struct bb_scoreboard *scoreboard)
{
    unsigned used = atomic_load(&scoreboard->memory->used);
    return used < scoreboard->count ? used : scoreboard->count;
}

/* number: less than scoreboard->count. */
static inline struct bb__slot *bb__scoreboard_slot(const struct bb_scoreboard *scoreboard, unsigned number)
{
    return &scoreboard->memory->slots[number];
}

/* Returns a free slot for a lane of this process, or NULL if none is left. The caller gives the slot back. */
struct bb__slot *bb__scoreboard_claim(struct bb_scoreboard *scoreboard);
void bb__scoreboard_give_back(struct bb__slot *slot);

/* Returns the number of a slot. */
static inline unsigned bb__scoreboard_number(const struct bb_scoreboard *scoreboard,
                                             const struct bb__slot *slot)
{
    return (unsigned)(slot - scoreboard->memory->slots);
}

/* Returns how many lanes of other processes are idle and would take a request. Counts up to `most`. */
unsigned bb__scoreboard_idle_elsewhere(const struct bb_scoreboard *scoreboard, int own_pid, unsigned most);

/* Returns whether the lane of the slot is idle and would take a request. */
bool bb__scoreboard_would_take(const struct bb__slot *slot);

/* Changes BB_IDLE to BB_IDLE_DOUBTED for all lanes of other processes, because these lanes should take a
 * waiting request. */
void bb__scoreboard_doubt(struct bb_scoreboard *scoreboard, int own_pid);

/* Changes BB_IDLE_DOUBTED to BB_IDLE_SILENT for all lanes of other processes, because a request still
 * waits. */
void bb__scoreboard_blame(struct bb_scoreboard *scoreboard, int own_pid);

/* As bb__scoreboard_idle_elsewhere(), but for the lanes of all processes. */
static inline unsigned bb__scoreboard_idle(const struct bb_scoreboard *scoreboard, unsigned most)
{
    return bb__scoreboard_idle_elsewhere(scoreboard, 0, most);
}

/* Returns how many requests the host has got, and how many files of `public` the lane has sent. */
static inline uint64_t bb__scoreboard_responses(const struct bb__slot *slot)
{
    return atomic_load_explicit(&slot->requests, memory_order_relaxed) +
           atomic_load_explicit(&slot->files, memory_order_relaxed);
}

/* requests: the sum over all lanes, with those for files of `public`. lanes: how many lanes can take more
 * requests. A lane does not count if it drains, has no room, or has had the same request for 100 ms. now: ms.
 */
struct bb__scoreboard_sum {
    uint64_t requests;
    unsigned lanes;
};
struct bb__scoreboard_sum bb__scoreboard_sum(const struct bb_scoreboard *scoreboard, uint64_t now);

/* lanes: how many lanes do not drain. waiting: how many of these lanes wait for their clients. slower: how
 * many of the waiting lanes have a slower client than the lane of slot `own`. */
struct bb__scoreboard_waits {
    unsigned lanes, waiting, slower;
};
struct bb__scoreboard_waits bb__scoreboard_waits(const struct bb_scoreboard *scoreboard,
                                                 const struct bb__slot *own);

/* Makes this process the queue reaper, which rejects requests that are past queue_timeout. False: another
 * process is the queue reaper. */
bool bb__scoreboard_begin_reaping(struct bb_scoreboard *scoreboard, int own_pid);
void bb__scoreboard_end_reaping(struct bb_scoreboard *scoreboard);

/* Returns whether any other process has a lane that does not drain. */
bool bb__scoreboard_has_siblings(const struct bb_scoreboard *scoreboard, int own_pid);

/* Returns whether any other process has a lane. */
bool bb__scoreboard_has_others(const struct bb_scoreboard *scoreboard, int own_pid);

/* Returns whether all lanes except the lane of slot `own` are done. If `all` is false, only lanes that drain
 * are considered. */
bool bb__scoreboard_others_are_done(const struct bb_scoreboard *scoreboard, const struct bb__slot *own,
                                    bool all);

/* Returns whether there is another process in which all lanes are idle and would take a request. */
bool bb__scoreboard_process_is_idle(const struct bb_scoreboard *scoreboard, int own_pid);

/* Writes the label of the current request. slot: NULL is allowed. For the I/O thread. */
void bb__scoreboard_label(struct bb__slot *slot, struct bb_slice method, struct bb_slice path);

/* Shows why the current request holds the lane, with its own label. slot: NULL is allowed. For the lane. */
void bb__scoreboard_hold(struct bb__slot *slot, enum bb_held held, struct bb_slice method,
                         struct bb_slice path);
enum bb_held bb__scoreboard_held(const struct bb__slot *slot);

/* Shows `next` instead of `held`, unless another thread has shown something else meanwhile. */
void bb__scoreboard_hold_next(struct bb__slot *slot, enum bb_held held, enum bb_held next);

/* scoreboard: NULL is allowed. Must be cheap, because it runs for each response that keeps its connection. */
static inline bool bb__scoreboard_is_draining(const struct bb_scoreboard *scoreboard)
{
    return scoreboard && atomic_load_explicit(&scoreboard->memory->draining, memory_order_relaxed) != 0;
}

/* scoreboard: NULL is allowed. */
static inline bool bb__scoreboard_is_taken_over(const struct bb_scoreboard *scoreboard)
{
    return scoreboard && atomic_load(&scoreboard->memory->taken_over) != 0;
}

static inline void bb__scoreboard_set_idle(struct bb__slot *slot, bool idle)
{
    if (slot) atomic_store_explicit(&slot->idle, idle ? BB_IDLE : BB_IDLE_NOT, memory_order_relaxed);
}

/* Only the lane writes these fields, so relaxed loads and stores are enough. */
static inline void bb__scoreboard_begin(struct bb__slot *slot, uint64_t now, uint64_t queue_time)
{
    uint64_t requests = atomic_load_explicit(&slot->requests, memory_order_relaxed);
    atomic_store_explicit(&slot->requests, requests + 1, memory_order_relaxed);
    atomic_store_explicit(&slot->began, now, memory_order_relaxed);
    atomic_store_explicit(&slot->queue_time, queue_time, memory_order_relaxed);
}

/* Counts an error. For the lane and the I/O thread. */
static inline void bb__scoreboard_note_error(struct bb__slot *slot)
{
    if (slot) atomic_fetch_add_explicit(&slot->errors, 1, memory_order_relaxed);
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
