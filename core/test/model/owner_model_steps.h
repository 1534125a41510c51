/* owner_model_steps.h: the next step of each actor in owner_model.h's state. Used by owner_search.h. */
#ifndef BB_TEST_OWNER_MODEL_STEPS_H
#define BB_TEST_OWNER_MODEL_STEPS_H

#include "owner_model_io.h"
#include "owner_model_lane.h"

static inline void serve_elsewhere(struct state *state, unsigned number, uint8_t of_pending)
{
    struct conn *conn = &state->conns[number];
    *conn = (struct conn){.place = ELSEWHERE,
                          .unsent = conn->unsent,
                          .pending = conn->pending - of_pending,
                          .served = conn->served + 1};
}

static inline bool elsewhere_step(struct model *model, struct state *state)
{
    unsigned asked = asked_elsewhere(model, state);
    if (!elsewhere_lives(state)) return false;
    if (!state->elsewhere_awake) {
        state->elsewhere_awake = state->elsewhere_reported || asked != NOBODY;
        return state->elsewhere_awake;
    }
    state->elsewhere_reported &= sources_with_work(model, state);
    if (asked != NOBODY) {
        serve_elsewhere(state, asked, 1);
    } else if (state->elsewhere_reported & LISTENER) {
        serve_elsewhere(state, first_queued(model, state), 1);
    } else if (state->elsewhere_reported & SHARED_QUEUE) {
        uint8_t message = shared_queue_take(state);
        if (message != NUDGE)
            serve_elsewhere(state, message, 0);
        else
            state->elsewhere_reported |= hear_nudge(model, state);
    } else {
        state->elsewhere_awake = false;
    }
    return true;
}

static inline bool client_step(struct model *model, struct state *state, unsigned client)
{
    struct conn *conn = &state->conns[client];
    if (conn->unsent == 0) return false;
    conn->unsent--;
    conn->pending++;
    struct lane *lane = &state->lanes[conn->lane];
    if (conn->registered && lane->queued) lane->edge = true;
    if (conn->place != NEW) return true;
    conn->place = QUEUED;
    tell(model, state, LISTENER);
    return true;
}

/* who: the number of an actor. Each lane, the I/O thread, the lane elsewhere and each client are actors. A
 * lane's delayed store, the death of the lane elsewhere and the begin of the drain are actors, too. Returns
 * false if this actor cannot do a step now. */
static inline bool step(struct model *model, struct state *state, unsigned who)
{
    unsigned lanes = model->lanes;
    if (who < lanes) return lane_step(model, state, who);
    if (who < 2 * lanes) return store_becomes_seen(state, who - lanes);
    if (who == 2 * lanes) return io_thread_step(model, state);
    if (who == 2 * lanes + 1) return elsewhere_step(model, state);
    if (who == 2 * lanes + 2) return death_step(model, state);
    if (who == 2 * lanes + 3) return order_step(model, state);
    return client_step(model, state, who - 2 * lanes - 4);
}

#endif
