/* own_model_porter.h: what the porter of own_model.h may do next: porter.c and porter_work.c. Each step is
 * one that others can see, or several of which nobody sees but the last. */
#ifndef BB_TEST_OWN_MODEL_PORTER_H
#define BB_TEST_OWN_MODEL_PORTER_H

#include "own_model_answer.h"
#include "own_model_drain.h"
#include "own_model_siblings.h"

/* ---- the porter, with a set ---- */

static inline void to_next_lane(const struct model *model, struct porter *porter, enum porter_at same,
                                enum porter_at then)
{
    bool more = ++porter->lane < model->lanes;
    if (!more) porter->lane = 0;
    porter->at = (uint8_t)(more ? same : then);
}

static inline void look_on(const struct model *model, struct porter *porter)
{
    to_next_lane(model, porter, P_LOOKS, model->withdraws ? P_WITHDRAWS : P_RESTS);
}

static inline bool take(const struct model *model, struct bb__own *own, unsigned word)
{
    if (model->mistake != TAKE_BY_STORE) return bb__own_take(own, word);
    atomic_init(&own->word, bb__own_with_state(word, BB_OWN_WORK));
    return true;
}

static inline void decide(struct model *model, struct state *state)
{
    struct porter *porter = &state->porter;
    struct bb__own *own = &state->own[porter->lane];
    enum bb__own_state was = bb__own_state_of(porter->word);
    bool is_long = was == BB_OWN_BUSY && porter->word == porter->minded[porter->lane];
    if (was == BB_OWN_BUSY && !is_long) {
        porter->minded[porter->lane] = porter->word;
        state->lanes[porter->lane].overdue = false;
    }
    bool is_alone = was == BB_OWN_ALONE && choose(model, 2) == 1;
    if ((is_long || is_alone) && take(model, own, porter->word))
        porter->at = P_LEAVES;
    else if (was == BB_OWN_HELD && bb__own_rouse(own))
        porter->at = P_PASSES;
    else
        look_on(model, porter);
}

static inline void leave_sources(struct model *model, struct state *state)
{
    struct lane *lane = &state->lanes[state->porter.lane];
    lane->sources = lane->told = 0;
    state->porter.at = P_UNWATCHES;
    if (model->mistake != NO_NUDGE) nudge(model, state);
}

static inline void unwatch(const struct model *model, struct state *state)
{
    struct lane *lane = &state->lanes[state->porter.lane];
    if (lane->current != NOBODY && model->mistake != CURRENT_LEFT)
        state->conns[lane->current].registered = false;
    if (model->mistake != BATCH_KEPT) lane->batch = 0;
    lane->queued = true;
    lane->edge = events_of(model, state, state->porter.lane) != 0;
    state->porter.at = P_PASSES;
}

static inline void pass_ready(struct model *model, struct state *state)
{
    unsigned ready = first_ready(model, state, state->porter.lane);
    if (is_wanted(state) || ready == NOBODY || keeps(model, state) || !pass(model, state, ready))
        state->porter.at = P_POLLS;
}

static inline void poll_set(struct model *model, struct state *state)
{
    uint8_t events = events_of(model, state, state->porter.lane);
    if (is_wanted(state) || !events) {
        state->porter.at = P_LIMITS;
        return;
    }
    struct conn *conn = &state->conns[first_of(events)];
    if (!is_in_set(conn, state->porter.lane))
        model->violation = "the porter reads the connection that the lane has";
    conn->pending--;
    conn->registered = false;
    if (keeps(model, state))
        conn->place = READY;
    else
        (void)pass(model, state, first_of(events));
    if (model->mistake == EVENTS_LEFT) state->porter.at = P_LIMITS;
}

static inline void hold(const struct model *model, struct state *state)
{
    struct bb__own *own = &state->own[state->porter.lane];
    if (state->draining) show_done_held(model, state, state->porter.lane);
    if (model->mistake == HOLD_BY_STORE)
        atomic_init(&own->word, bb__own_with_state(bb__own_look(own), BB_OWN_HELD));
    else if (!bb__own_hold(own)) {
        state->porter.at = P_GIVES;
        return;
    }
    look_on(model, &state->porter);
}

static inline void give(struct state *state)
{
    bb__own_give(&state->own[state->porter.lane]);
    state->porter.at = P_TELLS;
}

static inline void tell_lane(const struct model *model, struct state *state)
{
    if (model->mistake != NO_WAKE) state->lanes[state->porter.lane].woken = true;
    look_on(model, &state->porter);
}

/* ---- the porter, between two looks ---- */

/* What it holds has something to be tried again. */
static inline bool has_to_try(const struct model *model, struct state *state, unsigned lane)
{
    const struct lane *it = &state->lanes[lane];
    bool due = model->limited && it->current != NOBODY && !it->overdue;
    return bb__own_state_of(bb__own_look(&state->own[lane])) == BB_OWN_HELD &&
           (due || first_ready(model, state, lane) != NOBODY);
}

static inline bool holds_any(const struct model *model, struct state *state)
{
    for (unsigned lane = 0; lane < model->lanes; lane++)
        if (bb__own_state_of(bb__own_look(&state->own[lane])) == BB_OWN_HELD) return true;
    return false;
}

/* For a tick, or for as long as it takes. */
static inline void rest(struct model *model, struct state *state)
{
    struct porter *porter = &state->porter;
    if (choose(model, 2) == 0) {
        for (unsigned lane = 0; lane < model->lanes; lane++) state->lanes[lane].edge = false;
        porter->at = P_LOOKS;
        return;
    }
    porter->asleep = model->mistake != HELD_UNANNOUNCED || !holds_any(model, state);
    porter->at = porter->asleep && model->mistake != NO_SECOND_LOOK ? P_CHECKS : P_SLEEPS;
    porter->timed = false;
    for (unsigned lane = 0; porter->at == P_SLEEPS && lane < model->lanes; lane++)
        porter->timed = porter->timed || has_to_try(model, state, lane);
}

static inline void check(const struct model *model, struct state *state)
{
    struct porter *porter = &state->porter;
    if (bb__own_state_of(bb__own_look(&state->own[porter->lane])) == BB_OWN_BUSY) {
        porter->asleep = porter->timed = false;
        porter->lane = 0;
        porter->at = P_LOOKS;
        return;
    }
    porter->timed = porter->timed || has_to_try(model, state, porter->lane);
    to_next_lane(model, porter, P_CHECKS, P_SLEEPS);
}

static inline bool wake_up(const struct model *model, struct state *state)
{
    struct porter *porter = &state->porter;
    bool due = porter->kick || porter->timed;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        due = due || state->lanes[lane].edge ||
              bb__own_state_of(bb__own_look(&state->own[lane])) == BB_OWN_ALONE;
    if (!due) return false;
    for (unsigned lane = 0; lane < model->lanes; lane++) state->lanes[lane].edge = false;
    porter->saw_kick = porter->kick;
    porter->timed = false;
    porter->at = P_WAKES;
    return true;
}

static inline void clear_kick(struct porter *porter)
{
    if (porter->saw_kick) porter->kick = false;
    porter->saw_kick = false;
    porter->at = P_LOOKS;
}

/* False: it waits. */
static inline bool porter_step(struct model *model, struct state *state)
{
    struct porter *porter = &state->porter;
    switch ((enum porter_at)porter->at) {
    case P_LOOKS:
        porter->word = bb__own_look(&state->own[porter->lane]);
        porter->at = P_DECIDES;
        return true;
    case P_DECIDES:
        decide(model, state);
        return true;
    case P_LEAVES:
        leave_sources(model, state);
        return true;
    case P_UNWATCHES:
        unwatch(model, state);
        return true;
    case P_PASSES:
        pass_ready(model, state);
        return true;
    case P_POLLS:
        poll_set(model, state);
        return true;
    case P_LIMITS:
        limit(model, state);
        return true;
    case P_ANSWERS:
        answer_by_store(state);
        return true;
    case P_HOLDS:
        hold(model, state);
        return true;
    case P_GIVES:
        give(state);
        return true;
    case P_TELLS:
        tell_lane(model, state);
        return true;
    case P_WITHDRAWS:
        withdraw(model, state);
        return true;
    case P_RESTS:
        rest(model, state);
        return true;
    case P_CHECKS:
        check(model, state);
        return true;
    case P_SLEEPS:
        return wake_up(model, state);
    case P_WAKES:
        porter->asleep = false;
        porter->at = P_CLEARS;
        return true;
    case P_CLEARS:
        clear_kick(porter);
        return true;
    }
    return false;
}

#endif
