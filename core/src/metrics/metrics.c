/* metrics.c: see metrics.h, and bontebok_metrics.h for the contracts. metrics_file.c makes the memory,
 * metrics_read.c reads it. */
#include "metrics/metrics.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef BB_PORTABLE
#include <sys/syscall.h>
#endif

/* ---- lanes ---- */

static int thread_number(void)
{
#ifdef BB_PORTABLE
    return 0;
#else
    return (int)syscall(SYS_gettid);
#endif
}

static void note_used(struct bb__metrics_memory *memory, unsigned count)
{
    unsigned used = atomic_load(&memory->used);
    while (used < count && !atomic_compare_exchange_weak(&memory->used, &used, count)) continue;
}

struct bb__metrics_block *bb__metrics_begin(struct bb_metrics *metrics, unsigned slot, unsigned worker,
                                            unsigned generation)
{
    if (slot >= metrics->count) return NULL;
    struct bb__metrics_block *block = &metrics->memory->blocks[slot];
    for (int i = 0; i < BB_METRICS_COUNTERS; i++)
        atomic_store(&block->before[i], atomic_load(&block->counters[i]));
    bb__metrics_end(block);
    atomic_store(&block->worker, worker);
    atomic_store(&block->generation, generation);
    atomic_store(&block->began, bb__clock_real_us() / 1000);
    atomic_store(&block->thread, 0);
    atomic_store(&block->pid, (int)getpid());
    note_used(metrics->memory, slot + 1);
    return block;
}

void bb__metrics_end(struct bb__metrics_block *block)
{
    for (int i = 0; block && i < BB_METRICS_GAUGES; i++) atomic_store(&block->gauges[i], 0);
}

void bb__metrics_show_thread(struct bb__metrics_block *block)
{
    if (block) atomic_store(&block->thread, thread_number());
}

/* ---- times ---- */

#define PLACES_OF_A_DECADE 90
#define LAST_TIME          1000000000 /* us: 1,000 s */

unsigned bb__metrics_place(uint64_t time)
{
    static const uint32_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, LAST_TIME};
    /* By the highest bit: the decade of the lowest number with this bit. */
    static const uint8_t decades[] = {0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4,
                                      4, 4, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 8, 8, 8};
    if (time < 10) return (unsigned)time;
    if (time >= LAST_TIME) return BB_METRICS_TIMES - 1;
    uint32_t number = (uint32_t)time;
    unsigned decade = decades[31 - __builtin_clz(number)];
    decade += number >= tens[decade + 1];
    return PLACES_OF_A_DECADE * (decade - 1) + number / tens[decade - 1];
}

/* ---- texts ---- */

/* Writes what fits of a text, and zeros behind it. A reader that sees a word of the text also sees all that
 * was stored before. */
static void put_text(atomic_uint_fast64_t *to, size_t words, const char *text, size_t len)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t word = 0;
        size_t at = i * sizeof word;
        if (at < len) memcpy(&word, text + at, len - at < sizeof word ? len - at : sizeof word);
        atomic_store_explicit(&to[i], word, memory_order_release);
    }
}

/* ---- names ---- */

/* FNV-1a. Two of a few dozen names do not have the same hash. Never 0. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3;
    return hash > 0 ? hash : 1;
}

/* Returns the place with this name, or a new one; NULL: no place is left. Threads that come with a new name
 * at the same time get the same place. */
static struct bb__metrics_name *find_place(struct bb__metrics_memory *memory, const char *name)
{
    uint64_t hash = hash_of(name);
    for (int i = 0; i < BB_METRICS_NAMES; i++) {
        struct bb__metrics_name *place = &memory->names[i];
        uint_fast64_t found = atomic_load(&place->hash); /* a compare-and-swap also writes if it fails */
        if (found == 0 && atomic_compare_exchange_strong(&place->hash, &found, hash)) found = hash;
        if (found != hash) continue;
        if (atomic_load(&place->named)) return place;
        put_text(place->name, BB_METRICS_NAME_WORDS, name, strlen(name));
        atomic_store(&place->named, 1);
        return place;
    }
    return NULL;
}

void bb_metrics_count(struct bb_metrics *metrics, const char *name, uint64_t number)
{
    if (strlen(name) >= BB_METRICS_NAME_MAX) return;
    struct bb__metrics_name *place = find_place(metrics->memory, name);
    if (place) atomic_fetch_add_explicit(&place->count, number, memory_order_relaxed);
}

void bb__count_rejection(const struct bb__counts *counts, const char *reason)
{
    char name[BB_METRICS_NAME_MAX];
    if (!counts->metrics) return;
    (void)snprintf(name, sizeof name, "rejected %s", reason);
    bb_metrics_count(counts->metrics, name, 1);
}

void bb__count_probe(const struct bb__counts *counts, enum bb_probe probe, bool good)
{
    static const char *const names[BB_PROBES_END][2] = {
        [BB_PROBE_READY] = {"probe ready_path 503", "probe ready_path 200"},
        [BB_PROBE_LIVE] = {"probe live_path 503", "probe live_path 200"},
    };
    struct bb_metrics *metrics = counts->metrics;
    if (!metrics) return;
    bb_metrics_count(metrics, names[probe][good], 1);
    atomic_uint_fast64_t *in_a_row = &metrics->memory->probes[probe].in_a_row;
    if (good)
        atomic_store(in_a_row, 0);
    else
        atomic_fetch_add(in_a_row, 1);
    atomic_store(&metrics->memory->probes[probe].last, bb__clock_real_us() / 1000);
}

/* ---- notes ---- */

void bb_metrics_note(struct bb_metrics *metrics, enum bb_note_kind kind, const char *text, size_t len)
{
    struct bb__metrics_notes *notes = &metrics->memory->notes[kind];
    struct bb__metrics_note *note = &notes->notes[atomic_fetch_add(&notes->written, 1) % BB_METRICS_NOTES];
    atomic_store(&note->time, 0);
    put_text(note->text, BB_METRICS_NOTE_WORDS, text, len);
    atomic_store(&note->time, bb__clock_real_us() / 1000);
}
