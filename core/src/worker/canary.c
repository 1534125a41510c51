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
    unsigned used = atomic_load(&scoreboard->used);
    int lanes[2] = {0};
    for (unsigned i = 0; i < used; i++) {
        struct bb__slot *slot = &scoreboard->slots[i];
        int pid = atomic_load(&slot->pid);
        bool canary = contains(pids, count, pid);
        atomic_store(&slot->canary, canary);
        lanes[canary] += pid != 0 && !atomic_load(&slot->leaves);
    }
    uint64_t now = bb__clock_ms();
    if (now >= atomic_load(&scoreboard->canary.until)) atomic_store(&scoreboard->canary.ahead, 0);
    atomic_store(&scoreboard->canary.former_lanes, lanes[false]);
    atomic_store(&scoreboard->canary.lanes, lanes[true]);
    atomic_store(&scoreboard->canary.until, lanes[false] > 0 && lanes[true] > 0 ? now + LASTS : 0);
}

enum bb__group bb__canary_group(const struct bb_scoreboard *scoreboard, const struct bb__slot *slot,
                                uint64_t now)
{
    if (!slot || !bb__canary_is_there(scoreboard, now)) return BB_GROUP_ANY;
    return atomic_load_explicit(&slot->canary, memory_order_relaxed) ? BB_GROUP_CANARY : BB_GROUP_FORMER;
}

static bool is_idle(const struct bb_scoreboard *scoreboard, enum bb__group group)
{
    unsigned used = atomic_load_explicit(&scoreboard->used, memory_order_relaxed);
    for (unsigned i = 0; i < used; i++) {
        const struct bb__slot *slot = &scoreboard->slots[i];
        if (atomic_load_explicit(&slot->canary, memory_order_relaxed) == (group == BB_GROUP_CANARY) &&
            bb__scoreboard_would_take(slot))
            return true;
    }
    return false;
}

/* How many former lanes there are, which is the weight of a decision for the canary. */
static int weight(const struct bb_scoreboard *scoreboard)
{
    return atomic_load_explicit(&scoreboard->canary.former_lanes, memory_order_relaxed);
}

static bool is_passing(uint64_t passed, uint64_t now)
{
    return passed > 0 && bb__elapsed(now, passed) < BB_CANARY_PASSING;
}

bool bb__canary_gives(const struct bb_scoreboard *scoreboard, enum bb__group own, uint64_t now)
{
    int ahead = atomic_load_explicit(&scoreboard->canary.ahead, memory_order_relaxed);
    if (own == BB_GROUP_FORMER) ahead = -ahead;
    return ahead > AHEAD * weight(scoreboard) &&
           !is_passing(atomic_load_explicit(&scoreboard->canary_passed, memory_order_relaxed), now) &&
           is_idle(scoreboard, bb__canary_other(own));
}

bool bb__canary_begin_passing(struct bb_scoreboard *scoreboard, uint64_t now)
{
    uint_fast64_t passed = atomic_load(&scoreboard->canary_passed);
    return !is_passing(passed, now) &&
           atomic_compare_exchange_strong(&scoreboard->canary_passed, &passed, now);
}

/* Two lanes may exceed the maximum at the same moment, which does no harm. */
void bb__canary_note(struct bb_scoreboard *scoreboard, enum bb__group group)
{
    int ahead = atomic_load_explicit(&scoreboard->canary.ahead, memory_order_relaxed);
    int more = group == BB_GROUP_CANARY
                   ? weight(scoreboard)
                   : -atomic_load_explicit(&scoreboard->canary.lanes, memory_order_relaxed);
    if ((more > 0 ? ahead : -ahead) <= AHEAD_MAX * weight(scoreboard))
        (void)atomic_fetch_add_explicit(&scoreboard->canary.ahead, more, memory_order_relaxed);
}
