/* own_model_answer.h: who of lane and porter answers a request whose time is limited, in own_model.h's state:
 * the core's own functions, on a lane and a porter made for it. */
#ifndef BB_TEST_OWN_MODEL_ANSWER_H
#define BB_TEST_OWN_MODEL_ANSWER_H

#include "io_thread/porter_work.h"
#include "own_model.h"

static struct {
    struct bb_worker worker;
    struct bb_lane lane;
    struct bb__porter porter;
    struct bb__conn conn;
} stage;

/* A lane with the request, whose time is over. */
static inline struct bb_lane *on_stage(const struct model *model, const struct lane *lane)
{
    stage.worker.settings.request_timeout = model->limited;
    stage.worker.alarm_fd = stage.worker.tell_fd = stage.conn.fd = -1;
    stage.porter.worker = stage.lane.worker = &stage.worker;
    stage.porter.context.settings = &stage.worker.settings;
    stage.porter.context.now = 1000;
    stage.lane.current = &stage.conn;
    stage.lane.minded.has_request = true;
    stage.lane.minded.overdue = false;
    atomic_init(&stage.lane.answer, lane->answer);
    return &stage.lane;
}

static inline bool may_send(const struct model *model, struct lane *lane, bool ended)
{
    struct bb_lane *real = on_stage(model, lane);
    real->reply.ended = ended;
    bool may = bb__lane_may_send(real);
    lane->answer = (uint8_t)atomic_load(&real->answer);
    return may;
}

/* The first part of an answer, which may be all of it. */
static inline void reply(struct model *model, struct lane *lane)
{
    bool whole = !model->limited || choose(model, 2) == 0;
    lane->answers += may_send(model, lane, whole);
    lane->at = whole || lane->answer == BB_ANSWER_TAKEN ? L_ENDS : L_FINISHES;
}

static inline void finish(const struct model *model, struct lane *lane)
{
    if (model->mistake == END_WITHOUT_STEP)
        lane->answer = BB_ANSWER_ENDED;
    else
        (void)may_send(model, lane, true);
    lane->at = L_ENDS;
}

/* The porter, which has the lane's set. */
static inline void limit(struct model *model, struct state *state)
{
    struct lane *lane = &state->lanes[state->porter.lane];
    state->porter.at = P_HOLDS;
    if (is_wanted(state) && model->mistake != LATE_LIMIT) return;
    if (!model->limited || lane->current == NOBODY || lane->overdue || choose(model, 2) == 0) return;
    if (lane->at == L_WAITS) model->violation = "a host that is back has no time left";
    lane->overdue = true;
    if (model->mistake == ANSWER_BY_STORE && lane->answer == BB_ANSWER_OPEN) {
        state->porter.at = P_ANSWERS;
        return;
    }
    if (model->mistake == CUT_WITHOUT_STEP && lane->answer != BB_ANSWER_OPEN) {
        lane->is_cut = true;
        return;
    }
    struct bb_lane *real = on_stage(model, lane);
    bb__porter_limit(&stage.porter, real);
    lane->answer = (uint8_t)atomic_load(&real->answer);
    lane->is_cut = lane->answer == BB_ANSWER_CUT;
    lane->answers += lane->answer == BB_ANSWER_TAKEN;
}

static inline void answer_by_store(struct state *state)
{
    struct lane *lane = &state->lanes[state->porter.lane];
    lane->answer = BB_ANSWER_TAKEN;
    lane->answers++;
    state->porter.at = P_HOLDS;
}

#endif
