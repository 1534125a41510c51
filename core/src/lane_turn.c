/* lane_turn.c: how a lane leaves its set for the time in which the host has a request, and takes it back. See
 * own.h and porter.h. */
#include "lane.h"
#include "porter.h"

/* Nothing is left behind that could have to wait, nor another lane that could have to stand back, and nobody
 * counts the time. */
static bool is_alone(const struct bb_lane *lane)
{
    return lane->set.count <= (lane->current != NULL) && !lane->worker->counts_time &&
           atomic_load_explicit(&lane->worker->lane_count, memory_order_relaxed) == 1 &&
           bb__batch_empty(&lane->set.batch) && !lane->accepting;
}

/* Costs no system call as long as the porter is awake, and two atomic steps. */
void bb__lane_leaves(struct bb_lane *lane)
{
    struct bb__porter *porter = lane->worker->porter;
    if (!porter) return;
    if (is_alone(lane)) {
        if (lane->told == 0) return;
        lane->told--;
    }
    atomic_store_explicit(&lane->answer, BB_ANSWER_OPEN, memory_order_relaxed);
    bb__own_begin(&lane->own);
    bb__porter_notice(porter);
}

static void watch_again(struct bb_lane *lane)
{
    pthread_mutex_lock(&lane->worker->lock);
    lane->lent = false;
    bb__lane_watch_and_unlock(lane);
}

/* The porter has dropped what the last look had found, has looked after all, and left nothing registered that
 * is not to be: only what it took out is to be put back. */
static void take_back(struct bb_lane *lane)
{
    bb__own_return(&lane->own);
    bb__poller_remove(&lane->worker->porter->queue, lane->set.poller.fd);
    lane->accepting = NULL;
    lane->busy = true;
    watch_again(lane);
    if (atomic_load(&lane->worker->withdrawn)) bb__event_raise(lane->worker->porter->kick_fd);
}

void bb__lane_returns(struct bb_lane *lane)
{
    bb__board_end(lane->line);
    if (!bb__own_end(&lane->own)) take_back(lane);
}

bool bb__lane_may_send(struct bb_lane *lane)
{
    unsigned before = atomic_load_explicit(&lane->answer, memory_order_relaxed);
    unsigned next = lane->reply.ended ? BB_ANSWER_ENDED : BB_ANSWER_SENT;
    return before < BB_ANSWER_TAKEN && atomic_compare_exchange_strong(&lane->answer, &before, next);
}

bool bb__lane_gives_up(struct bb_lane *lane)
{
    lane->reply.ended = true;
    return lane->worker->settings.request_timeout == 0 || bb__lane_may_send(lane) ||
           atomic_load_explicit(&lane->answer, memory_order_relaxed) != BB_ANSWER_TAKEN;
}
