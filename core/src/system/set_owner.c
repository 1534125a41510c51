/* set_owner.c: see set_owner.h. */
#include "system/set_owner.h"
#include "base/tuning.h"

static bool step(struct bb__owner *owner, unsigned from, enum bb__owner_state to)
{
    return atomic_compare_exchange_strong(&owner->word, &from, bb__owner_with_state(from, to));
}

/* Keeps the request number, which cannot change during the call. */
static bool step_from(struct bb__owner *owner, enum bb__owner_state from, enum bb__owner_state to)
{
    return step(owner, bb__owner_with_state(bb__owner_look(owner), from), to);
}

static bool is(struct bb__owner *owner, enum bb__owner_state state)
{
    return bb__owner_state_of(bb__owner_look(owner)) == state;
}

bool bb__owner_return(struct bb__owner *owner)
{
    while (!is(owner, BB_OWNER_IDLE) && !is(owner, BB_OWNER_RECLAIMED)) {
        if (step_from(owner, BB_OWNER_PARKED, BB_OWNER_IDLE)) return true;
        (void)step_from(owner, BB_OWNER_WORKING, BB_OWNER_RECLAIMED);
    }
    for (int spin = 0; spin < BB_OWNER_SPINS; spin++)
        if (is(owner, BB_OWNER_IDLE)) return true;
    return false;
}

bool bb__owner_take(struct bb__owner *owner, unsigned looked_at)
{
    enum bb__owner_state state = bb__owner_state_of(looked_at);
    return (state == BB_OWNER_BUSY || state == BB_OWNER_ALONE) && step(owner, looked_at, BB_OWNER_WORKING);
}

bool bb__owner_park(struct bb__owner *owner)
{
    return step_from(owner, BB_OWNER_WORKING, BB_OWNER_PARKED);
}

bool bb__owner_unpark(struct bb__owner *owner)
{
    return step_from(owner, BB_OWNER_PARKED, BB_OWNER_WORKING);
}

void bb__owner_give(struct bb__owner *owner)
{
    atomic_store(&owner->word, bb__owner_with_state(bb__owner_look(owner), BB_OWNER_IDLE));
}
