/* canary.h: the workers of a new release that serve beside the former workers, until they are compared. Both
 * groups get shares of the requests on kept-alive connections, in proportion to their lanes. After each
 * response, a lane decides which group serves the connection's next request. So the decisions have the right
 * shares, even if some connections have many requests and others have few. The decisions are counted on the
 * scoreboard. See bb_scoreboard_share_with(). */
#ifndef BB_CANARY_H
#define BB_CANARY_H

#include "system/scoreboard.h"

/* now: ms. scoreboard: NULL is allowed. Must be cheap, because it runs for each response that keeps its
 * connection. */
static inline bool bb__canary_is_there(const struct bb_scoreboard *scoreboard, uint64_t now)
{
    return scoreboard && now < atomic_load_explicit(&scoreboard->memory->canary.until, memory_order_relaxed);
}

/* Returns the group of a lane. slot: of the lane; NULL: it has none. */
enum bb__group bb__canary_group(const struct bb_scoreboard *scoreboard, const struct bb__slot *slot,
                                uint64_t now);

static inline enum bb__group bb__canary_other(enum bb__group group)
{
    return group == BB_GROUP_CANARY ? BB_GROUP_FORMER : BB_GROUP_CANARY;
}

/* ms. A message for another group is sent back until it was in the shared queue for this time. Then all lanes
 * of that group are busy, and any lane keeps the connection. Only one connection in this time is passed
 * on, because lanes of the wrong group keep away from the shared queue (lane_canary.c). */
#define BB_CANARY_PASSING 20

/* Returns whether the next request should go to the other group, in which a lane is idle. A group that has
 * connections keeps them until it is some requests ahead. Otherwise a single busy connection would move after
 * nearly each request. now: ms. */
bool bb__canary_gives(const struct bb_scoreboard *scoreboard, enum bb__group own, uint64_t now);

/* Called before a connection is passed on. False: another lane has just passed one on. */
bool bb__canary_begin_passing(struct bb_scoreboard *scoreboard, uint64_t now);

/* Counts a decision: the next request of a connection goes to this group. */
void bb__canary_note(struct bb_scoreboard *scoreboard, enum bb__group group);

#endif
