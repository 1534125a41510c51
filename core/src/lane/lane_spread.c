/* lane_spread.c: even shares for all lanes that wait for new connections (Spread). The kernel always wakes
 * the first lane of its wait queue. A lane that leaves the queue and enters it again is the last. It does so
 * when it has had more requests than the others. Lanes also do so for other reasons (set_owner.h), some lanes
 * more often. So doing it after a fixed number of connections would not make the shares even. */
#include "lane/lane.h"

static void forget(struct bb_lane *lane, uint64_t own, uint64_t all)
{
    lane->spread.own += own;
    lane->spread.all += all;
}

/* How many requests the lane has served above the mean of all lanes that could serve some; negative: below
 * the mean. A lane that is new, or was away for long, begins at 0. */
static int64_t lead(struct bb_lane *lane, const struct bb__scoreboard_sum *sum)
{
    uint64_t own =
        atomic_load_explicit(&lane->intake.slot->requests, memory_order_relaxed) - lane->spread.own;
    uint64_t all =
        sum->requests - lane->spread.all; /* huge if a lane has ended, because the sum is smaller then */
    uint64_t lanes = sum->lanes > 0 ? sum->lanes : 1;
    if (all > 2 * BB_SPREAD_MEMORY * lanes) {
        forget(lane, own, all);
        return 0;
    }
    if (all > BB_SPREAD_MEMORY * lanes) forget(lane, own / 2, all / 2);
    return (int64_t)own - (int64_t)(all / lanes);
}

/* Whether the lane waits for connections. It does not if it finds several at a time, or the next one without
 * waiting. */
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
