/* owner_model_response.h: the part of the model (owner_model.h) that decides which thread responds to a
 * request with a timeout: the lane or the I/O thread. Calls the core's functions with the lane and the I/O
 * thread of `stage`. Used by owner_model_lane.h and owner_model_io.h. */
#ifndef BB_TEST_OWNER_MODEL_RESPONSE_H
#define BB_TEST_OWNER_MODEL_RESPONSE_H

#include "io_thread/io_work.h"
#include "owner_model.h"

static struct {
    struct bb_worker worker;
    struct bb_lane lane;
    struct bb__io_thread io;
    struct bb__conn conn;
} stage;

/* Sets up a lane with a request. */
static inline struct bb_lane *on_stage(const struct model *model, const struct lane *lane)
{
    stage.worker.settings.request_timeout = model->limited;
    stage.worker.limits.alarm.fd = stage.worker.parent.fd = stage.conn.fd = -1;
    stage.io.worker = stage.lane.worker = &stage.worker;
    stage.io.context.settings = &stage.worker.settings;
    stage.io.context.now = 1000;
    stage.lane.current = &stage.conn;
    stage.lane.watched.has_request = true;
    stage.lane.watched.overdue = false;
    atomic_init(&stage.lane.response, lane->response);
    return &stage.lane;
}

static inline bool may_send(const struct model *model, struct lane *lane, bool ended)
{
    struct bb_lane *real = on_stage(model, lane);
    real->reply.ended = ended;
    bool may = bb__lane_claim_response(real);
    lane->response = (uint8_t)atomic_load(&real->response);
    return may;
}

/* Sends the first part of a response, or all of it. */
static inline void reply(struct model *model, struct lane *lane)
{
    bool whole = !model->limited || choose(model, 2) == 0;
    lane->responses += may_send(model, lane, whole);
    lane->at = whole || lane->response == BB_RESPONSE_BY_IO ? L_ENDS : L_FINISHES;
}

static inline void finish(const struct model *model, struct lane *lane)
{
    if (model->mistake == END_WITHOUT_STEP)
        lane->response = BB_RESPONSE_ENDED;
    else
        (void)may_send(model, lane, true);
    lane->at = L_ENDS;
}

/* The I/O thread has the lane's set, and checks whether the request is past its timeout. */
static inline void limit(struct model *model, struct state *state)
{
    struct lane *lane = &state->lanes[state->io.lane];
    state->io.at = IO_HOLDS;
    if (is_wanted(state) && model->mistake != LATE_LIMIT) return;
    if (!model->limited || lane->current == NOBODY || lane->overdue || choose(model, 2) == 0) return;
    if (lane->at == L_WAITS) model->violation = "a host that is back has no time left";
    lane->overdue = true;
    if (model->mistake == RESPOND_BY_STORE && lane->response == BB_RESPONSE_OPEN) {
        state->io.at = IO_RESPONDS;
        return;
    }
    if (model->mistake == CUT_WITHOUT_STEP && lane->response != BB_RESPONSE_OPEN) {
        lane->is_cut = true;
        return;
    }
    struct bb_lane *real = on_stage(model, lane);
    bb__io_limit(&stage.io, real);
    lane->response = (uint8_t)atomic_load(&real->response);
    lane->is_cut = lane->response == BB_RESPONSE_CUT;
    lane->responses += lane->response == BB_RESPONSE_BY_IO;
}

static inline void respond_by_store(struct state *state)
{
    struct lane *lane = &state->lanes[state->io.lane];
    lane->response = BB_RESPONSE_BY_IO;
    lane->responses++;
    state->io.at = IO_HOLDS;
}

#endif
