/* lane_spread.c: gives each lane an even share of the new connections. The kernel always wakes the first lane
 * of its wait queue. A lane that leaves the queue and enters it again goes to the end. A lane does this when
 * it has had more requests than the mean (see lead()). Files of `public` count as requests. Doing this after
 * a fixed number of connections would not make the shares even, because lanes also go to the end for other
 * reasons (set_owner.h), some lanes more often than others. */
#include "lane/lane.h"

static void forget(struct bb_lane *lane, uint64_t own, uint64_t all)
{
    lane->spread.own += own;
    lane->spread.all += all;
}

/* Returns the number of the lane's requests minus the mean. The mean is the requests of all lanes, divided
 * by the number of lanes that can take more. A lane that is new, or did not compare for long, begins at 0. */
static int64_t lead(struct bb_lane *lane, const struct bb__scoreboard_sum *sum)
{
    uint64_t own = bb__scoreboard_responses(lane->intake.slot) - lane->spread.own;
    uint64_t all =
        sum->requests - lane->spread.all; /* huge if a lane has ended, because the sum is smaller then */
    uint64_t lanes = sum->lanes > 0 ? sum->lanes : 1;
    uint64_t most = 2 * BB_SPREAD_MEMORY * lanes;
    if (all > most || own > most) {
        forget(lane, own, all);
        return 0;
    }
    if (all > BB_SPREAD_MEMORY * lanes) forget(lane, own / 2, all / 2);
    return (int64_t)own - (int64_t)(all / lanes);
}

/* Whether the lane sleeps before each connection. False if it accepts several in a row, or finds events
 * without waiting. */
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
    if (!lane->intake.slot || lane->context.draining || !waits(lane)) return;
    struct bb__scoreboard_sum sum = bb__scoreboard_sum(lane->worker->scoreboard, lane->context.now);
    int64_t more = lead(lane, &sum);
    lane->spread.look =
        (more >= BB_SPREAD_LEAD ? 1 : BB_SPREAD_LEAD - (more > 0 ? (unsigned)more : 0)) + sum.lanes / 8;
    if (more >= BB_SPREAD_LEAD) bb__lane_rescan(lane);
}
