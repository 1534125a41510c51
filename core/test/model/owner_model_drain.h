/* owner_model_drain.h: what the lanes of owner_model.h do when their worker drains (ends gracefully), as in
 * lane_drain.c. A lane without connections stands by (can still serve) until the other lane is done. */
#ifndef BB_TEST_OWNER_MODEL_DRAIN_H
#define BB_TEST_OWNER_MODEL_DRAIN_H

#include "owner_model.h"

/* The drain may begin at any moment. */
static inline bool order_step(const struct model *model, struct state *state)
{
    if (!model->drains || state->draining) return false;
    state->draining = true;
    return true;
}

static inline unsigned first_in_set(const struct model *model, const struct state *state, unsigned lane)
{
    for (unsigned i = 0; i < model->conns; i++)
        if (is_in_set(&state->conns[i], lane)) return i;
    return NOBODY;
}

static inline void show(struct state *state, unsigned lane, bool done)
{
    unsigned others = state->done & ~(1U << lane);
    state->done = (uint8_t)(others | (done ? 1U << lane : 0));
}

static inline void show_done(const struct model *model, struct state *state, unsigned lane)
{
    show(state, lane, first_in_set(model, state, lane) == NOBODY);
}

static inline void show_done_held(const struct model *model, struct state *state, unsigned lane)
{
    show(state, lane, model->mistake == DRAINED_TOO_EARLY || first_in_set(model, state, lane) == NOBODY);
}

static inline bool others_are_done(const struct model *model, const struct state *state, unsigned lane)
{
    unsigned others = ((1U << model->lanes) - 1) & ~(1U << lane);
    return (state->done & others) == others || model->mistake == DRAINED_AT_ONCE;
}

static inline void leave_or_stand_by(const struct model *model, struct state *state, unsigned lane)
{
    struct lane *it = &state->lanes[lane];
    bool looks = model->mistake != DRAINED_LOOKED && model->mistake != DRAINED_UNLOOKED;
    it->at = looks && state->shared_queue_len > 0 ? L_SLEEPS : L_GONE;
    if (it->at != L_GONE) return;
    it->sources = it->reported = 0;
    show(state, lane, true); /* its slot is free */
}

/* Whether the I/O thread keeps connections that it should put into the shared queue (DRAINED_KEPT). */
static inline bool keeps(const struct model *model, const struct state *state)
{
    return state->draining && model->mistake == DRAINED_KEPT;
}

#endif
