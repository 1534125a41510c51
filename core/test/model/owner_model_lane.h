/* owner_model_lane.h: the steps of a lane of owner_model.h, as in lane.c and lane_turn.c. A step has one
 * action that other threads can see. Actions that other threads cannot see may come before this action in the
 * same step. */
#ifndef BB_TEST_OWNER_MODEL_LANE_H
#define BB_TEST_OWNER_MODEL_LANE_H

#include "owner_model_drain.h"
#include "owner_model_response.h"
#include "owner_model_siblings.h"

/* ---- a lane, while the set is its own ---- */

static inline void serve(struct state *state, unsigned lane, unsigned conn)
{
    state->conns[conn].place = CURRENT;
    state->conns[conn].lane = (uint8_t)lane;
    state->lanes[lane].current = (uint8_t)conn;
    state->lanes[lane].at = L_LEAVES;
}

static inline uint8_t hear_nudge(const struct model *model, const struct state *state)
{
    return model->mistake == DEAF_TO_NUDGES ? 0 : sources_with_work(model, state);
}

static inline void take_nudge(struct model *model, struct state *state, unsigned lane)
{
    if (state->accept_paused && model->mistake != NUDGE_KEPT)
        nudge(model, state);
    else
        state->lanes[lane].reported |= state->lanes[lane].sources & hear_nudge(model, state);
}

static inline void take_shared(struct model *model, struct state *state, unsigned lane)
{
    if (state->shared_queue_len == 0) return;
    uint8_t message = shared_queue_take(state);
    if (message == NUDGE)
        take_nudge(model, state, lane);
    else
        serve(state, lane, message);
}

static inline void accept_queued(const struct model *model, struct state *state, unsigned lane)
{
    unsigned queued = first_queued(model, state);
    if (queued == NOBODY) return;
    state->conns[queued].pending--;
    serve(state, lane, queued);
}

static inline void take_conn(struct model *model, struct state *state, unsigned lane, unsigned number)
{
    struct conn *conn = &state->conns[number];
    if (!is_in_set(conn, lane)) model->violation = "the lane reads a connection that it does not have";
    if (conn->place != IN_SET || conn->pending == 0) return;
    conn->pending--;
    serve(state, lane, number);
}

static inline void take_event(struct model *model, struct state *state, unsigned lane)
{
    uint8_t left = state->lanes[lane].batch;
    for (unsigned skip = choose(model, (unsigned)__builtin_popcount(left)); skip > 0; skip--)
        left &= left - 1;
    unsigned event = left & -left;
    state->lanes[lane].batch &= (uint8_t)~event;
    if (event == SHARED_QUEUE)
        take_shared(model, state, lane);
    else if (event == LISTENER)
        accept_queued(model, state, lane);
    else
        take_conn(model, state, lane, first_of(left));
}

/* The lane has no request and no event. An idle connection may reach its timeout and be closed. */
static inline void drain(struct model *model, struct state *state, unsigned lane)
{
    unsigned idle = first_in_set(model, state, lane);
    if (state->shared_queue_len > 0 && model->mistake != DRAINED_UNLOOKED)
        take_shared(model, state, lane);
    else if (idle == NOBODY)
        state->lanes[lane].at = L_SHOWS;
    else if (choose(model, 2) == 0)
        close_conn(&state->conns[idle]);
    else
        state->lanes[lane].at = L_SLEEPS;
}

static inline void look(const struct model *model, struct state *state, unsigned lane)
{
    struct lane *it = &state->lanes[lane];
    it->reported &= sources_with_work(model, state);
    it->batch = events_of(model, state, lane) | it->reported;
}

static inline void run(struct model *model, struct state *state, unsigned lane)
{
    if (state->draining && model->mistake != DRAINED_UNSHOWN) show_done(model, state, lane);
    struct lane *it = &state->lanes[lane];
    unsigned ready = first_ready(model, state, lane);
    if (model->lock == LOCK_SHARED && choose(model, 2) == 1) {
        it->at = L_WAKES; /* lets other threads of the host run */
        return;
    }
    if (it->batch) {
        take_event(model, state, lane);
        return;
    }
    look(model, state, lane);
    if (it->batch) return;
    if (ready != NOBODY)
        serve(state, lane, ready);
    else if (state->draining)
        drain(model, state, lane);
    else
        it->at = L_SLEEPS;
}

static inline void wake(struct model *model, struct state *state, unsigned lane)
{
    if (pass_on(model, state, lane)) return;
    look(model, state, lane);
    if (model->lock == LOCK_FREE)
        state->lanes[lane].at = L_RUNS;
    else
        state->lanes[lane].at = model->mistake == WOKEN_UNMARKED ? L_LOCKED : L_WAKES;
}

/* ---- a lane, while it has a request, or waits for its host's lock ---- */

static inline bool is_alone(const struct model *model, const struct state *state, unsigned lane)
{
    struct bb_lane *real = on_stage(model, &state->lanes[lane]);
    real->set.count = 1;
    for (unsigned i = 0; i < model->conns; i++) real->set.count += is_in_set(&state->conns[i], lane);
    real->set.batch.count = state->lanes[lane].batch != 0;
    real->worker->limits.counts_time = model->limited && model->mistake != ALONE_AND_UNTIMED;
    atomic_init(&real->worker->lane_count, model->lanes);
    return bb__lane_is_alone(real);
}

static inline bool store_becomes_seen(struct state *state, unsigned lane)
{
    if (state->lanes[lane].stored == 0) return false;
    atomic_init(&state->owner[lane].word, state->lanes[lane].stored);
    state->lanes[lane].stored = 0;
    return true;
}

static inline void begin(const struct model *model, struct state *state, unsigned lane)
{
    struct bb__owner owner = {bb__owner_look(&state->owner[lane])};
    bb__owner_begin(&owner);
    state->lanes[lane].stored = bb__owner_look(&owner);
    if (model->mistake != RELAXED_BEGIN) (void)store_becomes_seen(state, lane);
    state->lanes[lane].at = L_NOTICES;
}

static inline uint8_t after_notice(const struct lane *lane)
{
    return lane->current == NOBODY ? L_LOCKED : L_SERVES;
}

static inline void leave_woken(const struct model *model, struct state *state, unsigned lane)
{
    begin(model, state, lane);
    if (model->mistake == WOKEN_UNNOTICED) state->lanes[lane].at = L_LOCKED;
}

static inline void leave(struct model *model, struct state *state, unsigned lane)
{
    struct lane *it = &state->lanes[lane];
    it->response = BB_RESPONSE_OPEN;
    it->responses = it->is_cut = 0;
    if (is_alone(model, state, lane)) {
        if (model->watched) bb__owner_begin_alone(&state->owner[lane]);
        it->at = L_SERVES;
        return;
    }
    begin(model, state, lane);
}

static inline void notice(struct state *state, unsigned lane)
{
    state->lanes[lane].at = state->io.asleep ? L_KICKS : after_notice(&state->lanes[lane]);
}

static inline void kick(struct state *state, unsigned lane)
{
    (void)store_becomes_seen(state, lane); /* an atomic exchange makes the store visible */
    state->lanes[lane].at = state->io.asleep ? L_RAISES : after_notice(&state->lanes[lane]);
    state->io.asleep = false;
}

static inline void raise_kick(struct state *state, unsigned lane)
{
    state->io.kick = true;
    state->lanes[lane].at = after_notice(&state->lanes[lane]);
}

static inline void end_request(const struct model *model, struct state *state, unsigned lane)
{
    struct bb__owner *owner = &state->owner[lane];
    (void)store_becomes_seen(state, lane);
    if (model->mistake == ALONE_BY_STORE)
        atomic_init(&owner->word, bb__owner_with_state(bb__owner_look(owner), BB_OWNER_IDLE));
    bool ended = bb__owner_state_of(bb__owner_look(owner)) == BB_OWNER_IDLE || bb__owner_end(owner);
    state->lanes[lane].at = ended ? L_RESPONDED : L_RETURNS;
}

static inline bool get_lock(const struct model *model, struct state *state, unsigned lane)
{
    if (model->lock == LOCK_HELD && !rest_is_served(model, state)) return false;
    if (model->mistake == WOKEN_WITHOUT_STEP)
        state->lanes[lane].at = L_RUNS;
    else
        end_request(model, state, lane);
    return true;
}

static inline void return_to_set(struct state *state, unsigned lane)
{
    state->lanes[lane].at = bb__owner_return(&state->owner[lane]) ? L_BACK : L_WAITS;
}

static inline bool wait_for_set(struct state *state, unsigned lane)
{
    struct lane *it = &state->lanes[lane];
    if (!it->woken) return false;
    it->woken = false;
    it->at = L_RETURNS;
    return true;
}

static inline void take_back(const struct model *model, struct state *state, unsigned lane)
{
    struct lane *it = &state->lanes[lane];
    it->queued = it->edge = false;
    it->sources = state->accept_paused ? 0 : SOURCES;
    it->reported = it->sources & sources_with_work(model, state);
    it->at = L_RESPONDED;
}

static inline void answered(struct model *model, struct state *state, unsigned lane)
{
    struct lane *it = &state->lanes[lane];
    it->at = L_RUNS;
    if (it->current == NOBODY) return;
    struct conn *conn = &state->conns[it->current];
    if (it->responses != 1) model->violation = "a request is answered twice, or not at all";
    if (it->is_cut && it->response == BB_RESPONSE_ENDED) model->violation = "a whole response is cut";
    conn->place = IN_SET;
    conn->registered = true;
    conn->endless = false;
    conn->served++;
    if (it->is_cut || it->response == BB_RESPONSE_BY_IO || state->draining) close_conn(conn);
    it->response = it->responses = it->is_cut = 0;
    it->current = NOBODY;
}

/* An endless request ends after all other requests are served. If requests have a timeout, the endless
 * request ends only after the I/O thread has noticed that this request is overdue. */
static inline bool may_end(const struct model *model, const struct state *state, const struct lane *lane)
{
    if (!state->conns[lane->current].endless) return true;
    return rest_is_served(model, state) && (!model->limited || lane->overdue);
}

/* The lane has left its set, and wakes the I/O thread if that thread sleeps. */
static inline void tell_io_thread(struct state *state, unsigned lane)
{
    uint8_t at = state->lanes[lane].at;
    if (at == L_NOTICES)
        notice(state, lane);
    else if (at == L_KICKS)
        kick(state, lane);
    else
        raise_kick(state, lane);
}

/* The lane drains and has no connections left. */
static inline void end_of_drain(const struct model *model, struct state *state, unsigned lane)
{
    struct lane *it = &state->lanes[lane];
    if (it->at == L_SHOWS) {
        if (model->mistake != DRAINED_UNSHOWN) show_done(model, state, lane);
        it->at = L_CHECKS;
    } else if (it->at == L_CHECKS) {
        it->at = others_are_done(model, state, lane) ? L_LOOKS : L_SLEEPS;
    } else {
        leave_or_stand_by(model, state, lane);
    }
}

/* Returns false if the lane waits. */
static inline bool lane_step(struct model *model, struct state *state, unsigned lane)
{
    struct lane *it = &state->lanes[lane];
    switch ((enum lane_at)it->at) {
    case L_RUNS:
        run(model, state, lane);
        return true;
    case L_SLEEPS:
        if (!it->reported && events_of(model, state, lane) == 0 && !state->draining) return false;
        wake(model, state, lane);
        return true;
    case L_WAKES:
        leave_woken(model, state, lane);
        return true;
    case L_LOCKED:
        return get_lock(model, state, lane);
    case L_LEAVES:
        leave(model, state, lane);
        return true;
    case L_NOTICES:
    case L_KICKS:
    case L_RAISES:
        tell_io_thread(state, lane);
        return true;
    case L_SERVES:
        if (!may_end(model, state, it)) return false;
        it->at = L_REPLIES;
        return true;
    case L_REPLIES:
        reply(model, it);
        return true;
    case L_FINISHES:
        finish(model, it);
        return true;
    case L_ENDS:
        end_request(model, state, lane);
        return true;
    case L_RETURNS:
        return_to_set(state, lane);
        return true;
    case L_WAITS:
        return wait_for_set(state, lane);
    case L_BACK:
        take_back(model, state, lane);
        return true;
    case L_RESPONDED:
        answered(model, state, lane);
        return true;
    case L_SHOWS:
    case L_CHECKS:
    case L_LOOKS:
        end_of_drain(model, state, lane);
        return true;
    case L_GONE:
        return false;
    }
    return false;
}

#endif
