/* lane_spread.c: even shares for all lanes that wait for new connections (Spread). The kernel wakes the
 * first lane that waits, again and again. A lane that leaves the wait queue and enters it again is the last.
 * Lanes do so for other reasons as well (set_owner.h), some more often than others, so turns alone would
 * leave most of the work to the lane that does so least. A lane enters again when it has had more requests
 * than the others. */
#include "lane/lane.h"

static void forget(struct bb_lane *lane, uint64_t own, uint64_t all)
{
    lane->spread.own += own;
    lane->spread.all += all;
}

/* Requests that the lane had above the mean of all lanes that could have some; less than 0: below the mean.
 * A lane that is new or was away for long has nothing to catch up. */
static int64_t lead(struct bb_lane *lane, const struct bb__scoreboard_sum *sum)
{
    uint64_t own =
        atomic_load_explicit(&lane->intake.slot->requests, memory_order_relaxed) - lane->spread.own;
    uint64_t all =
        sum->requests - lane->spread.all; /* huge if a lane has ended, because its requests count no more */
    uint64_t lanes = sum->lanes > 0 ? sum->lanes : 1;
    if (all > 2 * BB_SPREAD_MEMORY * lanes) {
        forget(lane, own, all);
        return 0;
    }
    if (all > BB_SPREAD_MEMORY * lanes) forget(lane, own / 2, all / 2);
    return (int64_t)own - (int64_t)(all / lanes);
}

/* Whether the lane waits for connections. A lane that finds several at a time, or the next one without
 * waiting, does not. */
static bool waits(const struct bb_lane *lane)
{
    return lane->accept.count <= 1 && !lane->pick.busy;
}

/* If there are many lanes, a comparison costs more, so it is made less often. */
void bb__lane_take_turns(struct bb_lane *lane)
{
    if (lane->accept.count < lane->spread.look) {
        lane->spread.look -= lane->accept.count;
        return;
    }
    if (!lane->intake.slot || !lane->worker->settings.spread || lane->context.draining || !waits(lane))
        return;
    struct bb__scoreboard_sum sum = bb__scoreboard_sum(lane->worker->scoreboard, lane->context.now);
    int64_t more = lead(lane, &sum);
    lane->spread.look =
        (more >= BB_SPREAD_LEAD ? 1 : BB_SPREAD_LEAD - (more > 0 ? (unsigned)more : 0)) + sum.lanes / 8;
    if (more >= BB_SPREAD_LEAD) bb__lane_rescan(lane);
}
