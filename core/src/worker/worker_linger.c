/* worker_linger.c: the connections of ended streams, whose clients may still send. A stream ends in any
 * thread of the host (the program that calls the core), which must not wait for the client. So a lane or the
 * I/O thread takes the connection, and lets it linger (RFC 9112 9.6). See worker.h. */
#include "worker/worker.h"

#include <stdlib.h>

void bb__worker_note_news(struct bb_worker *worker)
{
    atomic_store(&worker->has_news, worker->events.count > 0 || worker->lingering);
}

/* Returns a lane that will look for lingering connections when it is woken: a lane that waits, if there is
 * one. If the lane is busy for long, the I/O thread looks in its place. NULL: all lanes have ended. */
static const struct bb__intake *find_lane(const struct bb_worker *worker)
{
    const struct bb__intake *found = NULL;
    for (const struct bb__intake *lane = worker->lanes; lane; lane = lane->next) {
        if (lane->ended) continue;
        if (atomic_load(&lane->waiting)) return lane;
        found = lane;
    }
    return found;
}

bool bb__worker_let_linger(struct bb_worker *worker, int fd, uint8_t listener, const struct bb__peer *peer)
{
    struct bb__lingering *lingering = malloc(sizeof *lingering);
    if (!lingering) return false;
    lingering->fd = fd;
    lingering->listener = listener;
    lingering->peer = *peer;
    pthread_mutex_lock(&worker->lock);
    const struct bb__intake *lane = find_lane(worker);
    if (lane) {
        lingering->next = worker->lingering;
        worker->lingering = lingering;
        bb__worker_note_news(worker);
        bb__wakeup_raise(&lane->wakeup);
    }
    pthread_mutex_unlock(&worker->lock);
    if (!lane) free(lingering);
    return lane;
}

struct bb__lingering *bb__worker_take_lingering(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct bb__lingering *first = worker->lingering;
    worker->lingering = NULL;
    bb__worker_note_news(worker);
    pthread_mutex_unlock(&worker->lock);
    return first;
}

bool bb__worker_lane_ends(struct bb_worker *worker, struct bb__intake *lane)
{
    pthread_mutex_lock(&worker->lock);
    bool ended = lane->ended = !worker->lingering;
    if (!ended) bb__wakeup_raise(&lane->wakeup);
    pthread_mutex_unlock(&worker->lock);
    return ended;
}
