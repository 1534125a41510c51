/* worker_intake.c: see worker_intake.h. A lane is a thread that serves requests. Its sources are the
 * listeners and the shared queue. */
#include "worker/worker.h"

/* ---- the list of lanes ---- */

/* The I/O thread holds io->lock while it walks the list, and may then wait for worker->lock. So io->lock is
 * taken first here, too. */
static void lock_lanes(struct bb_worker *worker)
{
    if (worker->io) pthread_mutex_lock(&worker->io->lock);
    pthread_mutex_lock(&worker->lock);
}

static void unlock_lanes(struct bb_worker *worker)
{
    pthread_mutex_unlock(&worker->lock);
    if (worker->io) pthread_mutex_unlock(&worker->io->lock);
}

void bb__worker_add_lane(struct bb_worker *worker, struct bb__intake *lane)
{
    lock_lanes(worker);
    lane->next = worker->lanes;
    worker->lanes = lane;
    atomic_fetch_add(&worker->lane_count, 1);
    unlock_lanes(worker);
}

void bb__worker_remove_lane(struct bb_worker *worker, struct bb__intake *lane)
{
    lock_lanes(worker);
    struct bb__intake **at = &worker->lanes;
    while (*at != lane) at = &(*at)->next;
    *at = lane->next;
    atomic_fetch_sub(&worker->lane_count, 1);
    unlock_lanes(worker);
}

int bb__worker_count_waiting(const struct bb_worker *worker)
{
    int count = 0;
    for (struct bb__intake *lane = worker->lanes; lane; lane = lane->next)
        count += atomic_load(&lane->waiting);
    return count;
}

/* ---- the sources ---- */

void bb__intake_remove_sources(struct bb__intake *lane, const struct bb_worker *worker)
{
    int open_count = bb__worker_count_open(worker);
    for (int i = 0; i < open_count; i++) bb__poller_remove(lane->poller, worker->listen.listeners[i].fd);
    bb__poller_remove(lane->poller, worker->shared.queue.out);
}

static bool add_listeners(struct bb__intake *lane, struct bb_worker *worker)
{
    int open_count = bb__worker_count_open(worker);
    for (int i = 0; i < open_count; i++) {
        struct bb__listener *listener = &worker->listen.listeners[i];
        if (listener->useless) continue;
        if (bb__poller_add_shared(lane->poller, listener->fd, &listener->source) != BB_OK) return false;
    }
    return true;
}

bool bb__intake_add_sources(struct bb__intake *lane, struct bb_worker *worker)
{
    if (!lane->watching || lane->held || bb__worker_has_paused_accepting(worker)) return true;
    if (!add_listeners(lane, worker)) return false;
    return lane->avoids_queue ||
           bb__poller_add_shared(lane->poller, worker->shared.queue.out, &worker->shared.source) == BB_OK;
}

/* Adds the sources to the lane's set again. If there is no room for them, wakes the lane's thread, which then
 * tries again. */
static void put_back(struct bb__intake *lane, struct bb_worker *worker)
{
    if (!lane->watching || bb__intake_add_sources(lane, worker)) return;
    atomic_store(&lane->unwatched, true);
    bb__wakeup_raise(&lane->wakeup);
}

static void put_others_back(struct bb__intake *self, struct bb_worker *worker)
{
    for (struct bb__intake *lane = worker->lanes; lane; lane = lane->next)
        if (lane != self) put_back(lane, worker);
}

void bb__worker_pause_accepting(struct bb_worker *worker, bool pause)
{
    pthread_mutex_lock(&worker->lock);
    atomic_store(&worker->accept_paused, pause);
    for (struct bb__intake *lane = worker->lanes; lane; lane = lane->next) {
        if (pause)
            bb__intake_remove_sources(lane, worker);
        else
            put_back(lane, worker);
    }
    if (pause) bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
}

/* ---- out-of-band work (stepping aside) ---- */

static bool others_serve(const struct bb__intake *self, const struct bb_worker *worker)
{
    for (const struct bb__intake *lane = worker->lanes; lane; lane = lane->next)
        if (lane != self && !atomic_load(&lane->waiting)) return true;
    return false;
}

/* Returns whether the lane's poller has an event. bb_lane_wait() gets the same event again
 * (level-triggered). */
static bool has_come(struct bb__intake *lane)
{
    struct bb__batch found;
    bb__poller_wait(lane->poller, &found, 0);
    return found.count > 0;
}

/* First removes the sources from the sets of the other lanes. Only the set of `self` still has the sources.
 * So has_come() finds a connection even if the connection has already woken another lane. When all sets are
 * without sources, new connections wake no lane of this worker. */
static bool leave(struct bb__intake *self, struct bb_worker *worker, enum bb_aside when)
{
    for (struct bb__intake *lane = worker->lanes; lane; lane = lane->next)
        if (lane != self) bb__intake_remove_sources(lane, worker);
    if (when == BB_ASIDE_IDLE && has_come(self)) {
        put_others_back(self, worker);
        return false;
    }
    bb__intake_remove_sources(self, worker);
    return true;
}

bool bb__worker_step_aside(struct bb_worker *worker, struct bb__intake *lane, enum bb_aside when)
{
    pthread_mutex_lock(&worker->lock);
    if (!worker->aside && !bb__worker_drains(worker) &&
        !(when == BB_ASIDE_IDLE && others_serve(lane, worker)) && leave(lane, worker, when))
        worker->aside = lane;
    bool done = worker->aside == lane;
    if (done) bb__worker_nudge(worker);
    pthread_mutex_unlock(&worker->lock);
    return done;
}

void bb__worker_step_back(struct bb_worker *worker, struct bb__intake *lane)
{
    pthread_mutex_lock(&worker->lock);
    worker->aside = NULL;
    put_others_back(lane, worker);
    put_back(lane, worker);
    pthread_mutex_unlock(&worker->lock);
}
