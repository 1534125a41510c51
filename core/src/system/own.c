/* own.c: see own.h. */
#include "system/own.h"

/* The porter is in the middle of one connection, for some microseconds as a rule. */
#define SPINS 200

static bool step(struct bb__own *own, unsigned from, enum bb__own_state to)
{
    return atomic_compare_exchange_strong(&own->word, &from, bb__own_with_state(from, to));
}

/* From that state, whatever the number is: it cannot change meanwhile. */
static bool step_from(struct bb__own *own, enum bb__own_state from, enum bb__own_state to)
{
    return step(own, bb__own_with_state(bb__own_look(own), from), to);
}

static bool is(struct bb__own *own, enum bb__own_state state)
{
    return bb__own_state_of(bb__own_look(own)) == state;
}

bool bb__own_return(struct bb__own *own)
{
    while (!is(own, BB_OWN_IDLE) && !is(own, BB_OWN_WANT)) {
        if (step_from(own, BB_OWN_HELD, BB_OWN_IDLE)) return true;
        (void)step_from(own, BB_OWN_WORK, BB_OWN_WANT);
    }
    for (int spin = 0; spin < SPINS; spin++)
        if (is(own, BB_OWN_IDLE)) return true;
    return false;
}

bool bb__own_take(struct bb__own *own, unsigned looked_at)
{
    enum bb__own_state state = bb__own_state_of(looked_at);
    return (state == BB_OWN_BUSY || state == BB_OWN_ALONE) && step(own, looked_at, BB_OWN_WORK);
}

bool bb__own_hold(struct bb__own *own)
{
    return step_from(own, BB_OWN_WORK, BB_OWN_HELD);
}

bool bb__own_rouse(struct bb__own *own)
{
    return step_from(own, BB_OWN_HELD, BB_OWN_WORK);
}

void bb__own_give(struct bb__own *own)
{
    atomic_store(&own->word, bb__own_with_state(bb__own_look(own), BB_OWN_IDLE));
}
