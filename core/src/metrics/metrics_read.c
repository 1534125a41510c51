/* metrics_read.c: reads the totals for those who watch a server. Code of the application may have damaged the
 * memory, so no value in it is a size or an index. See bontebok_metrics.h for the contracts. */
#include "metrics/metrics.h"

#include <string.h>

#define NAME(code, name) name,
const char *const bb_counter_names[BB_COUNTERS_END] = {BB_COUNTERS(NAME)};
const char *const bb_connection_names[BB_CONNECTIONS_END] = {BB_CONNECTIONS(NAME)};
#undef NAME

static unsigned used_of(const struct bb_metrics *metrics)
{
    unsigned used = atomic_load(&metrics->memory->used);
    return used < metrics->count ? used : metrics->count;
}

static void add(uint64_t *sums, const atomic_uint_fast64_t *cells, unsigned count)
{
    for (unsigned i = 0; i < count; i++) sums[i] += atomic_load_explicit(&cells[i], memory_order_relaxed);
}

static void add_block(struct bb_metrics_sum *sum, const struct bb__metrics_block *block)
{
    add(sum->counters, block->counters, BB_COUNTERS_END);
    add(sum->queue_time, block->queue_time, BB_METRICS_TIMES);
    add(sum->service_time, block->service_time, BB_METRICS_TIMES);
}

void bb_metrics_sum(const struct bb_metrics *metrics, struct bb_metrics_sum *sum)
{
    memset(sum, 0, sizeof *sum);
    add_block(sum, &metrics->memory->common);
    unsigned used = used_of(metrics);
    for (unsigned i = 0; i < used; i++) add_block(sum, &metrics->memory->blocks[i]);
}

int bb_metrics_look(const struct bb_metrics *metrics, unsigned number, struct bb_metrics_lane *lane)
{
    if (number >= used_of(metrics)) return BB_EOF;
    const struct bb__metrics_block *block = &metrics->memory->blocks[number];
    *lane = (struct bb_metrics_lane){.pid = atomic_load(&block->pid),
                                     .thread = atomic_load(&block->thread),
                                     .worker = atomic_load(&block->worker),
                                     .generation = atomic_load(&block->generation),
                                     .began = atomic_load(&block->began)};
    for (int i = 0; i < BB_COUNTERS_END; i++) {
        /* First: if the slot's next lane begins now, the difference is not negative. */
        uint64_t before = atomic_load(&block->before[i]);
        lane->counters[i] = atomic_load(&block->counters[i]) - before;
    }
    for (int i = 0; i < BB_CONNECTIONS_END; i++) lane->connections[i] = atomic_load(&block->gauges[i]);
    return BB_OK;
}

static void get_text(char *to, const atomic_uint_fast64_t *from, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t word = atomic_load_explicit(&from[i], memory_order_acquire);
        memcpy(to + i * sizeof word, &word, sizeof word);
    }
    to[words * sizeof(uint64_t) - 1] = '\0';
}

int bb_metrics_name(const struct bb_metrics *metrics, unsigned place, struct bb_metrics_name *found)
{
    if (place >= BB_METRICS_NAMES) return BB_EOF;
    const struct bb__metrics_name *name = &metrics->memory->names[place];
    if (!atomic_load(&name->named)) return BB_AGAIN;
    get_text(found->name, name->name, BB_METRICS_NAME_WORDS);
    found->count = atomic_load(&name->count);
    return BB_OK;
}

/* False: there is no note, or it has changed meanwhile. */
static bool read_note(const struct bb__metrics_note *note, struct bb_metrics_note *found)
{
    found->time = atomic_load(&note->time);
    get_text(found->text, note->text, BB_METRICS_NOTE_WORDS);
    return found->time != 0 && atomic_load(&note->time) == found->time;
}

unsigned bb_metrics_notes(const struct bb_metrics *metrics, enum bb_note_kind kind,
                          struct bb_metrics_note notes[BB_METRICS_NOTES])
{
    const struct bb__metrics_notes *from = &metrics->memory->notes[kind];
    uint64_t oldest = atomic_load(&from->written) % BB_METRICS_NOTES;
    unsigned count = 0;
    for (unsigned i = 0; i < BB_METRICS_NOTES; i++)
        count += read_note(&from->notes[(oldest + i) % BB_METRICS_NOTES], &notes[count]);
    return count;
}

struct bb_metrics_probe bb_metrics_probe(const struct bb_metrics *metrics, enum bb_probe probe)
{
    return (struct bb_metrics_probe){atomic_load(&metrics->memory->probes[probe].in_a_row),
                                     atomic_load(&metrics->memory->probes[probe].last)};
}
