/* owner_model_siblings.h: what the worker of owner_model.h leaves to the lane of another process ("the lane
 * elsewhere") while one of the worker's lanes is busy. Also models the death of the lane elsewhere. Follows
 * lane_aside.c, lane_share.c and scoreboard.c. */
#ifndef BB_TEST_OWNER_MODEL_SIBLINGS_H
#define BB_TEST_OWNER_MODEL_SIBLINGS_H

#include "owner_model.h"

/* ---- a pause of accepting ---- */

static inline bool is_taken(struct state *state, unsigned lane)
{
    enum bb__owner_state owner = bb__owner_state_of(bb__owner_look(&state->owner[lane]));
    return owner != BB_OWNER_IDLE && owner != BB_OWNER_BUSY;
}

static inline void leave_to_others(struct model *model, struct state *state)
{
    state->accept_paused = true;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        state->lanes[lane].sources = state->lanes[lane].reported = 0;
    if (model->mistake != PAUSED_UNNOTICED) nudge(model, state);
}

static inline void come_back(const struct model *model, struct state *state)
{
    state->accept_paused = false;
    for (unsigned lane = 0; lane < model->lanes; lane++) {
        if (state->lanes[lane].queued) continue;
        state->lanes[lane].sources = SOURCES;
        state->lanes[lane].reported = sources_with_work(model, state);
    }
}

/* Called after the I/O thread has checked all lanes. In the model the lane elsewhere counts as idle while a
 * lane of the worker is busy. */
static inline void pause(struct model *model, struct state *state)
{
    bool busy = false;
    for (unsigned lane = 0; lane < model->lanes; lane++) busy = busy || is_taken(state, lane);
    if (busy && !state->accept_paused) leave_to_others(model, state);
    if (!busy && state->accept_paused && model->mistake != PAUSED_FOR_GOOD) come_back(model, state);
    state->io.at = IO_RESTS;
    if (!busy) return;
    for (unsigned lane = 0; lane < model->lanes; lane++) state->lanes[lane].edge = false;
    state->io.at = IO_LOOKS; /* the I/O thread checks the lanes again after a tick */
}

/* While accepting is paused, a lane puts connections with new requests into the shared queue. Returns false
 * if the queue has no room, or if no connection has an event. */
static inline bool pass_on(struct model *model, struct state *state, unsigned lane)
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
    state->elsewhere_awake = state->elsewhere_reported = 0;
    for (unsigned i = 0; i < model->conns; i++)
        if (state->conns[i].place == ELSEWHERE) close_conn(&state->conns[i]);
}

/* The lane elsewhere may be killed at any moment. The parent process notices the death in a later step. */
static inline bool death_step(struct model *model, struct state *state)
{
    if (state->elsewhere_life == MORTAL) {
        die(model, state);
        return true;
    }
    if (state->elsewhere_life != DEAD) return false;
    state->elsewhere_life = BURIED;
    if (model->mistake != FORGOTTEN_DEAD) send_nudge(model, state);
    return true;
}

#endif
