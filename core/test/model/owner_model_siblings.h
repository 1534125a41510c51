/* owner_model_siblings.h: what the worker of owner_model.h leaves to the lane elsewhere while one of its own
 * is busy, and what becomes of that when the lane elsewhere is killed: lane_aside.c, lane_share.c,
 * scoreboard.c. */
#ifndef BB_TEST_OWN_MODEL_SIBLINGS_H
#define BB_TEST_OWN_MODEL_SIBLINGS_H

#include "owner_model.h"

/* ---- standing back ---- */

static inline bool is_taken(struct state *state, unsigned lane)
{
    enum bb__owner_state owner = bb__owner_state_of(bb__owner_look(&state->owner[lane]));
    return owner != BB_OWNER_IDLE && owner != BB_OWNER_BUSY;
}

static inline void leave_to_others(struct model *model, struct state *state)
{
    state->accept_paused = true;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        state->lanes[lane].sources = state->lanes[lane].told = 0;
    if (model->mistake != WITHDRAWN_UNTOLD) nudge(model, state);
}

static inline void come_back(const struct model *model, struct state *state)
{
    state->accept_paused = false;
    for (unsigned lane = 0; lane < model->lanes; lane++) {
        if (state->lanes[lane].queued) continue;
        state->lanes[lane].sources = SOURCES;
        state->lanes[lane].told = look_anew(model, state);
    }
}

/* After a look at all lanes. Who is idle elsewhere stays so as long as one of ours is busy. */
static inline void pause(struct model *model, struct state *state)
{
    bool busy = false;
    for (unsigned lane = 0; lane < model->lanes; lane++) busy = busy || is_taken(state, lane);
    if (busy && !state->accept_paused) leave_to_others(model, state);
    if (!busy && state->accept_paused && model->mistake != WITHDRAWN_FOR_GOOD) come_back(model, state);
    state->io.at = P_RESTS;
    if (!busy) return;
    for (unsigned lane = 0; lane < model->lanes; lane++) state->lanes[lane].edge = false;
    state->io.at = P_LOOKS; /* it looks again after a tick */
}

/* A lane of a worker that stands back hands on what comes to its set. False: there is no room for it, or it
 * is something else. */
static inline bool hand_on(struct model *model, struct state *state, unsigned lane)
{
    uint8_t events = events_of(model, state, lane);
    if (!state->accept_paused || !events) return false;
    struct conn *conn = &state->conns[first_of(events)];
    conn->pending--;
    conn->registered = false;
    return pass(model, state, first_of(events));
}

/* ---- the lane elsewhere is killed ---- */

static inline void die(const struct model *model, struct state *state)
{
    state->elsewhere_life = DEAD;
    state->elsewhere_awake = state->elsewhere_told = 0;
    for (unsigned i = 0; i < model->conns; i++)
        if (state->conns[i].place == ELSEWHERE) close_conn(&state->conns[i]);
}

/* At any moment; then whoever waits for its process finds out. */
static inline bool death_step(struct model *model, struct state *state)
{
    if (state->elsewhere_life == MORTAL) {
        die(model, state);
        return true;
    }
    if (state->elsewhere_life != DEAD) return false;
    state->elsewhere_life = BURIED;
    if (model->mistake != FORGOTTEN_DEAD) send_word(model, state);
    return true;
}

#endif
