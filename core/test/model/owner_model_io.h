/* owner_model_io.h: the steps of owner_model.h's I/O thread, as in io_thread.c and io_work.c. A step has one
 * action that other threads can see. Actions that other threads cannot see may come before this action in the
 * same step. */
#ifndef BB_TEST_OWNER_MODEL_IO_H
#define BB_TEST_OWNER_MODEL_IO_H

#include "owner_model_drain.h"
#include "owner_model_response.h"
#include "owner_model_siblings.h"

/* ---- the I/O thread, with a set ---- */

static inline void to_next_lane(const struct model *model, struct io *io, enum io_thread_at same,
                                enum io_thread_at then)
{
    bool more = ++io->lane < model->lanes;
    if (!more) io->lane = 0;
    io->at = (uint8_t)(more ? same : then);
}

static inline void look_on(const struct model *model, struct io *io)
{
    to_next_lane(model, io, IO_LOOKS, model->pauses ? IO_PAUSES : IO_RESTS);
}

static inline bool take(const struct model *model, struct bb__owner *owner, unsigned word)
{
    if (model->mistake != TAKE_BY_STORE) return bb__owner_take(owner, word);
    atomic_init(&owner->word, bb__owner_with_state(word, BB_OWNER_WORKING));
    return true;
}

static inline void decide(struct model *model, struct state *state)
{
    struct io *io = &state->io;
    struct bb__owner *owner = &state->owner[io->lane];
    enum bb__owner_state was = bb__owner_state_of(io->word);
    bool is_long = was == BB_OWNER_BUSY && io->word == io->watched[io->lane];
    if (was == BB_OWNER_BUSY && !is_long) {
        io->watched[io->lane] = io->word;
        state->lanes[io->lane].overdue = false;
    }
    bool is_alone = was == BB_OWNER_ALONE && choose(model, 2) == 1;
    if ((is_long || is_alone) && take(model, owner, io->word))
        io->at = IO_LEAVES;
    else if (was == BB_OWNER_PARKED && bb__owner_unpark(owner))
        io->at = IO_PASSES;
    else
        look_on(model, io);
}

static inline void leave_sources(struct model *model, struct state *state)
{
    struct lane *lane = &state->lanes[state->io.lane];
    lane->sources = lane->reported = 0;
    state->io.at = IO_UNWATCHES;
    if (model->mistake != NO_NUDGE) nudge(model, state);
}

static inline void unwatch(const struct model *model, struct state *state)
{
    struct lane *lane = &state->lanes[state->io.lane];
    if (lane->current != NOBODY && model->mistake != CURRENT_LEFT)
        state->conns[lane->current].registered = false;
    if (model->mistake != BATCH_KEPT) lane->batch = 0;
    lane->queued = true;
    lane->edge = events_of(model, state, state->io.lane) != 0;
    state->io.at = IO_PASSES;
}

static inline void pass_ready(struct model *model, struct state *state)
{
    unsigned ready = first_ready(model, state, state->io.lane);
    if (is_wanted(state) || ready == NOBODY || keeps(model, state) || !pass(model, state, ready))
        state->io.at = IO_POLLS;
}

static inline void poll_set(struct model *model, struct state *state)
{
    uint8_t events = events_of(model, state, state->io.lane);
    if (is_wanted(state) || !events) {
        state->io.at = IO_LIMITS;
        return;
    }
    struct conn *conn = &state->conns[first_of(events)];
    if (!is_in_set(conn, state->io.lane))
        model->violation = "the I/O thread reads the connection that the lane has";
    conn->pending--;
    conn->registered = false;
    if (keeps(model, state))
        conn->place = READY;
    else
        (void)pass(model, state, first_of(events));
    if (model->mistake == EVENTS_LEFT) state->io.at = IO_LIMITS;
}

static inline void hold(const struct model *model, struct state *state)
{
    struct bb__owner *owner = &state->owner[state->io.lane];
    if (state->draining) show_done_held(model, state, state->io.lane);
    if (model->mistake == HOLD_BY_STORE)
        atomic_init(&owner->word, bb__owner_with_state(bb__owner_look(owner), BB_OWNER_PARKED));
    else if (!bb__owner_park(owner)) {
        state->io.at = IO_GIVES;
        return;
    }
    look_on(model, &state->io);
}

static inline void give(struct state *state)
{
    bb__owner_give(&state->owner[state->io.lane]);
    state->io.at = IO_TELLS;
}

static inline void tell_lane(const struct model *model, struct state *state)
{
    if (model->mistake != NO_WAKE) state->lanes[state->io.lane].woken = true;
    look_on(model, &state->io);
}

/* ---- the I/O thread, between two rounds ---- */

/* Whether the lane's set is PARKED and has work for the I/O thread: a timeout to check, or a connection to
 * send again. */
static inline bool has_to_try(const struct model *model, struct state *state, unsigned lane)
{
    const struct lane *it = &state->lanes[lane];
    bool due = model->limited && it->current != NOBODY && !it->overdue;
    return bb__owner_state_of(bb__owner_look(&state->owner[lane])) == BB_OWNER_PARKED &&
           (due || first_ready(model, state, lane) != NOBODY);
}

static inline bool holds_any(const struct model *model, struct state *state)
{
    for (unsigned lane = 0; lane < model->lanes; lane++)
        if (bb__owner_state_of(bb__owner_look(&state->owner[lane])) == BB_OWNER_PARKED) return true;
    return false;
}

/* The I/O thread rests for a tick, or sleeps until an event. */
static inline void rest(struct model *model, struct state *state)
{
    struct io *io = &state->io;
    if (choose(model, 2) == 0) {
        for (unsigned lane = 0; lane < model->lanes; lane++) state->lanes[lane].edge = false;
        io->at = IO_LOOKS;
        return;
    }
    io->asleep = model->mistake != HELD_UNANNOUNCED || !holds_any(model, state);
    io->at = io->asleep && model->mistake != NO_SECOND_LOOK ? IO_CHECKS : IO_SLEEPS;
    io->timed = false;
    for (unsigned lane = 0; io->at == IO_SLEEPS && lane < model->lanes; lane++)
        io->timed = io->timed || has_to_try(model, state, lane);
}

static inline void check(const struct model *model, struct state *state)
{
    struct io *io = &state->io;
    if (bb__owner_state_of(bb__owner_look(&state->owner[io->lane])) == BB_OWNER_BUSY) {
        io->asleep = io->timed = false;
        io->lane = 0;
        io->at = IO_LOOKS;
        return;
    }
    io->timed = io->timed || has_to_try(model, state, io->lane);
    to_next_lane(model, io, IO_CHECKS, IO_SLEEPS);
}

static inline bool wake_up(const struct model *model, struct state *state)
{
    struct io *io = &state->io;
    bool due = io->kick || io->timed;
    for (unsigned lane = 0; lane < model->lanes; lane++)
        due = due || state->lanes[lane].edge ||
              bb__owner_state_of(bb__owner_look(&state->owner[lane])) == BB_OWNER_ALONE;
    if (!due) return false;
    for (unsigned lane = 0; lane < model->lanes; lane++) state->lanes[lane].edge = false;
    io->saw_kick = io->kick;
    io->timed = false;
    io->at = IO_WAKES;
    return true;
}

static inline void clear_kick(struct io *io)
{
    if (io->saw_kick) io->kick = false;
    io->saw_kick = false;
    io->at = IO_LOOKS;
}

/* Returns false if the I/O thread waits. */
static inline bool io_thread_step(struct model *model, struct state *state)
{
    struct io *io = &state->io;
    switch ((enum io_thread_at)io->at) {
    case IO_LOOKS:
        io->word = bb__owner_look(&state->owner[io->lane]);
        io->at = IO_DECIDES;
        return true;
    case IO_DECIDES:
        decide(model, state);
        return true;
    case IO_LEAVES:
        leave_sources(model, state);
        return true;
    case IO_UNWATCHES:
        unwatch(model, state);
        return true;
    case IO_PASSES:
        pass_ready(model, state);
        return true;
    case IO_POLLS:
        poll_set(model, state);
        return true;
    case IO_LIMITS:
        limit(model, state);
        return true;
    case IO_RESPONDS:
        respond_by_store(state);
        return true;
    case IO_HOLDS:
        hold(model, state);
        return true;
    case IO_GIVES:
        give(state);
        return true;
    case IO_TELLS:
        tell_lane(model, state);
        return true;
    case IO_PAUSES:
        pause(model, state);
        return true;
    case IO_RESTS:
        rest(model, state);
        return true;
    case IO_CHECKS:
        check(model, state);
        return true;
    case IO_SLEEPS:
        return wake_up(model, state);
    case IO_WAKES:
        io->asleep = false;
        io->at = IO_CLEARS;
        return true;
    case IO_CLEARS:
        clear_kick(io);
        return true;
    }
    return false;
}

#endif
