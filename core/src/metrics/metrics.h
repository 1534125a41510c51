/* metrics.h: counts what a server does, for the totals of bontebok_metrics.h. Used by lanes, I/O threads and
 * the files of conn. A lane counts in the block of its slot: only the lane writes this block, so a relaxed
 * load and store are enough. All others count in the common block, by atomic additions: I/O threads, lanes
 * without a slot, threads that end streams. A block is never set to 0, because a total that falls looks like
 * a restart to those who watch it. */
#ifndef BB_METRICS_H
#define BB_METRICS_H

#include "bontebok.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Room for counters and gauges of later versions. Their cells are 0 in the memory of an older version. */
#define BB_METRICS_COUNTERS 24
#define BB_METRICS_GAUGES   16
#define BB_METRICS_SPARE    15
#define BB_METRICS_BLOCK    (12 * 1024)

struct bb__metrics_block {
    _Alignas(64) atomic_int pid; /* of the slot's last lane; 0: the slot was never used */
    atomic_int thread;
    atomic_uint worker, generation;
    atomic_uint_fast64_t began;                         /* ms since 1970 */
    atomic_uint_fast64_t counters[BB_METRICS_COUNTERS]; /* enum bb_counter */
    atomic_uint_fast64_t before[BB_METRICS_COUNTERS];   /* the counters when the lane began */
    atomic_uint gauges[BB_METRICS_GAUGES];              /* enum bb_connection; of the slot's last lane */
    atomic_uint_fast64_t spare[BB_METRICS_SPARE];
    atomic_uint_fast64_t queue_time[BB_METRICS_TIMES], service_time[BB_METRICS_TIMES];
};

_Static_assert(sizeof(struct bb__metrics_block) == BB_METRICS_BLOCK, "a block has no gap");
_Static_assert(BB_COUNTERS_END <= BB_METRICS_COUNTERS && BB_CONNECTIONS_END <= BB_METRICS_GAUGES,
               "a block has a cell for each counter and each gauge");

/* Texts are words, because another process may read them while they are written. */
#define BB_METRICS_NAME_WORDS (BB_METRICS_NAME_MAX / 8)
#define BB_METRICS_NOTE_WORDS (BB_METRICS_NOTE_MAX / 8)

/* A process claims a place by the hash of its name, and then writes the name. If it is killed in between, the
 * next process with this name writes the name. */
struct bb__metrics_name {
    atomic_uint_fast64_t hash; /* 0: the place is free */
    atomic_uint_fast64_t count;
    atomic_uint named; /* not 0: the name is complete */
    atomic_uint_fast64_t name[BB_METRICS_NAME_WORDS];
};

struct bb__metrics_note {
    atomic_uint_fast64_t time; /* ms since 1970; 0: there is no note, or it is being written */
    atomic_uint_fast64_t text[BB_METRICS_NOTE_WORDS];
};

_Static_assert(BB_METRICS_NAME_MAX % 8 == 0 && BB_METRICS_NOTE_MAX % 8 == 0, "a text has whole words");

struct bb__metrics_notes {
    atomic_uint_fast64_t written;
    struct bb__metrics_note notes[BB_METRICS_NOTES];
};

/* Raise BB_METRICS_LAYOUT with each change of these structs, except for new counters and gauges. A process
 * that has another layout has a memory of its own. */
#define BB_METRICS_LAYOUT 1

struct bb__metrics_layout {
    char name[16];
    uint32_t version, header_size, block_size;
    uint32_t count; /* of blocks */
};

struct bb__metrics_memory {
    struct bb__metrics_layout layout;
    atomic_uint used; /* blocks from this number on were never used */
    struct {
        atomic_uint_fast64_t in_a_row, last; /* see struct bb_metrics_probe */
    } probes[BB_PROBES_END];
    struct bb__metrics_name names[BB_METRICS_NAMES];
    struct bb__metrics_notes notes[BB_NOTE_KINDS];
    struct bb__metrics_block common;
    struct bb__metrics_block blocks[];
};

/* The view of one process. */
struct bb_metrics {
    struct bb__metrics_memory *memory;
    unsigned count; /* of blocks; the memory's own count may be damaged */
    bool writable;
};

/* Who counts. */
struct bb__counts {
    struct bb_metrics *metrics;    /* NULL: nothing is counted */
    struct bb__metrics_block *own; /* only the caller writes it; NULL: the common block */
};

/* Returns the block of a slot for a lane that begins, or NULL if there is none. */
struct bb__metrics_block *bb__metrics_begin(struct bb_metrics *metrics, unsigned slot, unsigned worker,
                                            unsigned generation);

/* Shows that the lane of this block runs in this thread. block: NULL is allowed. */
void bb__metrics_show_thread(struct bb__metrics_block *block);

/* Clears the gauges of a lane that ends. block: NULL is allowed. */
void bb__metrics_end(struct bb__metrics_block *block);

/* Returns the place of a time (us) in queue_time and service_time. */
unsigned bb__metrics_place(uint64_t time);

/* Counts a request that is rejected for this reason (reason.h). */
void bb__count_rejection(const struct bb__counts *counts, const char *reason);

/* Counts a response of the core to a probe. good: its status is 200, not 503. */
void bb__count_probe(const struct bb__counts *counts, enum bb_probe probe, bool good);

/* For a cell that only the caller writes. */
static inline void bb__metrics_add(atomic_uint_fast64_t *cell, uint64_t number)
{
    uint64_t before = atomic_load_explicit(cell, memory_order_relaxed);
    atomic_store_explicit(cell, before + number, memory_order_relaxed);
}

static inline void bb__count(const struct bb__counts *counts, enum bb_counter counter, uint64_t number)
{
    if (counts->own)
        bb__metrics_add(&counts->own->counters[counter], number);
    else if (counts->metrics)
        atomic_fetch_add_explicit(&counts->metrics->memory->common.counters[counter], number,
                                  memory_order_relaxed);
}

/* The counter of a status from 100 to 999. A status of 600 or more counts as 5xx. */
static inline enum bb_counter bb__counter_of_status(unsigned status)
{
    unsigned hundreds = status / 100;
    return (enum bb_counter)(BB_COUNT_RESPONSES_1XX + (hundreds < 5 ? hundreds : 5) - 1);
}

/* The times of a request that the I/O thread has ended. us. */
static inline void bb__count_times(const struct bb__counts *counts, uint64_t queued, uint64_t served)
{
    if (!counts->metrics) return;
    struct bb__metrics_block *common = &counts->metrics->memory->common;
    atomic_fetch_add_explicit(&common->queue_time[bb__metrics_place(queued)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&common->service_time[bb__metrics_place(served)], 1, memory_order_relaxed);
}

#endif
