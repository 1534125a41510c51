/* canary.c: see canary.h. */
#include "worker/canary.h"
#include "base/clock.h"

/* ms after bb_scoreboard_share_with(). */
#define LASTS 1000

/* A group gives connections away when it is ahead by this many requests of the canary. */
#define AHEAD 2

/* The most requests of the canary that a group is ahead. A group that could take nothing for some time does
 * not get all requests later. */
#define AHEAD_MAX 64

static bool contains(const int *pids, size_t count, int pid)
{
    for (size_t i = 0; i < count; i++)
        if (pids[i] == pid) return true;
    return false;
}

void bb_scoreboard_share_with(struct bb_scoreboard *scoreboard, const int *pids, size_t count)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    int lanes[2] = {0};
    for (unsigned i = 0; i < used; i++) {
        struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        int pid = atomic_load(&slot->pid);
        bool canary = contains(pids, count, pid);
        atomic_store(&slot->canary, canary);
        lanes[canary] += pid > 0 && !atomic_load(&slot->leaves);
    }
    uint64_t now = bb__clock_ms();
    if (now >= atomic_load(&scoreboard->memory->canary.until))
        atomic_store(&scoreboard->memory->canary.ahead, 0);
    atomic_store(&scoreboard->memory->canary.former_lanes, lanes[false]);
    atomic_store(&scoreboard->memory->canary.lanes, lanes[true]);
    atomic_store(&scoreboard->memory->canary.until, lanes[false] > 0 && lanes[true] > 0 ? now + LASTS : 0);
}

enum bb__group bb__canary_group(const struct bb_scoreboard *scoreboard, const struct bb__slot *slot,
                                uint64_t now)
{
    if (!slot || !bb__canary_is_there(scoreboard, now)) return BB_GROUP_ANY;
    return atomic_load_explicit(&slot->canary, memory_order_relaxed) ? BB_GROUP_CANARY : BB_GROUP_FORMER;
}

static bool is_idle(const struct bb_scoreboard *scoreboard, enum bb__group group)
{
    unsigned used = bb__scoreboard_used(scoreboard);
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = bb__scoreboard_slot(scoreboard, i);
        bool canary = atomic_load_explicit(&slot->canary, memory_order_relaxed);
        if (canary == (group == BB_GROUP_CANARY) && bb__scoreboard_would_take(slot)) return true;
    }
    return false;
}

/* How much a decision for the group counts: as many requests as the other group has lanes. */
static int weight(const struct bb_scoreboard *scoreboard, enum bb__group group)
{
    const struct bb__scoreboard_memory *memory = scoreboard->memory;
    const atomic_int *lanes = group == BB_GROUP_CANARY ? &memory->canary.former_lanes : &memory->canary.lanes;
    int count = atomic_load_explicit(lanes, memory_order_relaxed);
    return count >= 0 && (unsigned)count <= scoreboard->count ? count : 0;
}

/* How far the group has more than its share. */
static int64_t lead(const struct bb_scoreboard *scoreboard, enum bb__group group)
{
    int64_t ahead = atomic_load_explicit(&scoreboard->memory->canary.ahead, memory_order_relaxed);
    return group == BB_GROUP_CANARY ? ahead : -ahead;
}

/* requests: of the canary. */
static bool is_ahead(const struct bb_scoreboard *scoreboard, enum bb__group group, int64_t requests)
{
    return lead(scoreboard, group) > requests * weight(scoreboard, BB_GROUP_CANARY);
}

static bool is_passing(uint64_t passed, uint64_t now)
{
    return passed > 0 && bb__elapsed(now, passed) < BB_CANARY_PASSING;
}

bool bb__canary_gives(const struct bb_scoreboard *scoreboard, enum bb__group own, uint64_t now)
{
    const atomic_uint_fast64_t *passed = &scoreboard->memory->canary_passed;
    return is_ahead(scoreboard, own, AHEAD) &&
           !is_passing(atomic_load_explicit(passed, memory_order_relaxed), now) &&
           is_idle(scoreboard, bb__canary_other(own));
}

bool bb__canary_begin_passing(struct bb_scoreboard *scoreboard, uint64_t now)
{
    atomic_uint_fast64_t *shown = &scoreboard->memory->canary_passed;
    uint_fast64_t passed = atomic_load(shown);
    return !is_passing(passed, now) && atomic_compare_exchange_strong(shown, &passed, now);
}

/* Two lanes may exceed the maximum at the same moment, which does no harm. */
void bb__canary_note(struct bb_scoreboard *scoreboard, enum bb__group group)
{
    if (is_ahead(scoreboard, group, AHEAD_MAX)) return;
    int more = weight(scoreboard, group);
    (void)atomic_fetch_add_explicit(&scoreboard->memory->canary.ahead,
                                    group == BB_GROUP_CANARY ? more : -more, memory_order_relaxed);
}
