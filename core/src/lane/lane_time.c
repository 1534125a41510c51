/* lane_time.c: calls of the host (the program that calls the core: Ruby) about the time limits of a lane's
 * current request. A lane is one thread of the host. The request must not end during a call. The I/O thread
 * counts the time (io_limit.c). No thread holds time_lock for long, so no host thread waits for a step of the
 * I/O thread. */
#include "lane/lane.h"

/* Returns the number of the request, as in watched.word. Returns 0 if there is no request, or if the I/O
 * thread does not watch the request. */
static unsigned request_of(struct bb_lane *lane)
{
    unsigned word = bb__owner_look(&lane->owner);
    return bb__owner_state_of(word) == BB_OWNER_IDLE ? 0 : bb__owner_with_state(word, BB_OWNER_BUSY);
}

static struct bb__io_link *io_of(const struct bb_lane *lane)
{
    return bb__worker_is_inert(lane->worker) ? NULL : lane->worker->io;
}

static bool is_late(struct bb_lane *lane)
{
    return lane->watched.late && lane->watched.word == request_of(lane);
}

bool bb_lane_take_late(struct bb_lane *lane)
{
    struct bb__io_link *io = io_of(lane);
    if (!io) return false;
    pthread_mutex_lock(&io->time_lock);
    bool late = is_late(lane);
    lane->watched.late = false;
    pthread_mutex_unlock(&io->time_lock);
    return late;
}

void bb_lane_remind(struct bb_lane *lane)
{
    struct bb__io_link *io = io_of(lane);
    if (!io) return;
    pthread_mutex_lock(&io->time_lock);
    if (is_late(lane)) bb__wakeup_raise(&lane->worker->limits.alarm);
    pthread_mutex_unlock(&io->time_lock);
}

bool bb_lane_take_overdue(struct bb_lane *lane, uint64_t *ms)
{
    struct bb__io_link *io = io_of(lane);
    if (!io) return false;
    pthread_mutex_lock(&io->time_lock);
    bool overdue = lane->watched.untold && lane->watched.word == request_of(lane);
    lane->watched.untold = false;
    *ms = bb__elapsed(bb__clock_us(), lane->watched.since) / 1000;
    pthread_mutex_unlock(&io->time_lock);
    return overdue;
}

void bb_lane_extend_time(struct bb_lane *lane, uint64_t ms)
{
    struct bb__io_link *io = io_of(lane);
    if (!io) return;
    pthread_mutex_lock(&io->time_lock);
    unsigned request = request_of(lane);
    if (lane->extended.word != request) lane->extended.ms = 0;
    lane->extended.word = request;
    lane->extended.ms += ms;
    bool was_warned = lane->watched.word == request && lane->watched.warned;
    if (was_warned) lane->watched.warned = lane->watched.late = false;
    pthread_mutex_unlock(&io->time_lock);
    if (was_warned) bb__io_notice(io); /* the I/O thread may sleep, and does not know the new limit */
}
