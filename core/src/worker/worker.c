/* worker.c: see worker.h, and bontebok.h for the contracts. */
#include "worker/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

atomic_uint bb__process_generation;

void bb__worker_set_room(struct bb_worker *worker, uint64_t fits)
{
    uint64_t limit = worker->settings.max_connections > 0 ? worker->settings.max_connections : UINT64_MAX;
    atomic_store_explicit(&worker->room.fits, fits, memory_order_relaxed);
    atomic_store_explicit(&worker->room.limit, fits > 0 && fits < limit ? fits : limit, memory_order_relaxed);
}

static bool may_lack_descriptors(const struct bb_worker *worker)
{
    return BB_SHARED_QUEUE_NEEDS_FREE &&
           (atomic_load_explicit(&worker->room.fits, memory_order_relaxed) > 0 ||
            atomic_load_explicit(&worker->room.exhausted, memory_order_relaxed));
}

static bool is_descriptor_free(const struct bb_worker *worker)
{
    int number = fcntl(worker->drain.wakeup.fd, F_DUPFD_CLOEXEC, 0);
    if (number >= 0) (void)close(number);
    return number >= 0 && number < worker->room.reserve;
}

bool bb__worker_has_descriptor(struct bb_worker *worker)
{
    return !may_lack_descriptors(worker) || is_descriptor_free(worker) ||
           (bb__worker_close_files(worker) && is_descriptor_free(worker));
}

bool bb__worker_close_files(struct bb_worker *worker)
{
    return worker->files && bb__file_cache_give_way(worker->files, bb__clock_ms());
}

int bb__worker_accept(struct bb_worker *worker, const struct bb__listener *listener, int *fd,
                      struct bb__peer *peer)
{
    int code = bb__sock_accept(listener->fd, fd, peer);
    bool gives_way = code == BB_ESYSTEM && bb__sock_is_exhaustion(errno);
    int error = errno;
    if (gives_way && bb__worker_close_files(worker)) return bb__sock_accept(listener->fd, fd, peer);
    errno = error;
    return code;
}

bool bb__worker_has_places(const struct bb_worker *worker)
{
    return !may_lack_descriptors(worker) || bb__shared_queue_fits(&worker->shared.queue);
}

int bb_worker_reopen_logs(struct bb_worker *worker)
{
    return bb__worker_is_inert(worker) ? BB_OK : bb__log_sink_reopen(&worker->log.sink);
}

int bb_worker_listen(struct bb_worker *worker, int fd, unsigned number)
{
    if (bb__worker_is_inert(worker)) return BB_DRAINED;
    if (worker->listen.count == BB_LISTENERS_MAX || number >= BB_LISTENERS_MAX) return BB_ENOMEM;
    struct bb__listener listener = {.source.kind = BB_SOURCE_LISTENER, .fd = fd, .number = (uint8_t)number};
    if (bb__sock_prepare_listener(fd, &listener.tcp) != BB_OK) return BB_ESYSTEM;
    worker->listen.listeners[worker->listen.count++] = listener;
    worker->listen.ports[number] = bb__sock_port(fd);
    worker->listen.addresses[number] = bb__sock_address(fd);
    worker->listen.numbers |= UINT64_C(1) << number;
    return BB_OK;
}

/* Returns whether a connection is in an accept queue, or descriptor `other` is readable. other: -1 if there
 * is no such descriptor. */
static bool is_any_ready(const struct bb_worker *worker, int other)
{
    struct pollfd sources[BB_LISTENERS_MAX + 1];
    nfds_t count = 0;
    if (other >= 0) sources[count++] = (struct pollfd){.fd = other, .events = POLLIN};
    int open_count = bb__worker_count_open(worker);
    for (int i = 0; i < open_count; i++)
        if (!worker->listen.listeners[i].useless)
            sources[count++] = (struct pollfd){.fd = worker->listen.listeners[i].fd, .events = POLLIN};
    return poll(sources, count, 0) > 0;
}

bool bb__worker_is_awaited(struct bb_worker *worker)
{
    return is_any_ready(worker, worker->shared.queue.out);
}

bool bb__worker_has_waiting(struct bb_worker *worker)
{
    struct bb__shared_stamp first;
    if (bb__shared_queue_look(&worker->shared.queue, &first) == BB_OK &&
        (first.has_request || bb__shared_queue_waiting(&worker->shared.queue, &first) > 0))
        return true;
    return is_any_ready(worker, -1);
}

void bb__worker_nudge(struct bb_worker *worker)
{
    if (bb__worker_is_awaited(worker)) bb__shared_queue_nudge(&worker->shared.queue);
}

void bb__worker_give_events(struct bb_worker *worker, struct bb__event_ring *ring)
{
    struct bb_event event;
    pthread_mutex_lock(&worker->lock);
    unsigned before = worker->events.count;
    while (worker->events.count < BB_EVENT_RING_MAX && bb__event_take(ring, &event) == BB_OK)
        bb__event_put(&worker->events, &event);
    /* If the worker's ring is full, no lane is woken again: a busy lane would leave its wakeup raised, and
     * the I/O thread would find it, and call this function, without end. */
    if (worker->events.count > before) {
        bb__worker_note_news(worker);
        if (worker->lanes) bb__wakeup_raise(&worker->lanes->wakeup);
        bb__wakeup_raise(&worker->limits.alarm);
    }
    pthread_mutex_unlock(&worker->lock);
}

void bb__worker_take_events(struct bb_worker *worker, struct bb__event_ring *ring)
{
    struct bb_event event;
    while (ring->count < BB_EVENT_RING_MAX && bb_worker_event(worker, &event) == BB_OK)
        bb__event_put(ring, &event);
}

int bb_worker_share_queue(struct bb_worker *worker, int in, int out)
{
    if (bb__worker_is_inert(worker)) return BB_DRAINED;
    struct bb__shared_queue own = worker->shared.queue;
    if (bb__shared_queue_adopt(&worker->shared.queue, in, out) != BB_OK) return BB_ESYSTEM;
    worker->shared.queue.turns = own.turns;
    bb__shared_queue_close(&own);
    return BB_OK;
}

void bb_worker_metrics(struct bb_worker *worker, struct bb_metrics *metrics, unsigned number,
                       unsigned generation)
{
    worker->metrics.counts.metrics = metrics;
    worker->metrics.number = number;
    worker->metrics.generation = generation;
}

void bb_worker_scoreboard(struct bb_worker *worker, struct bb_scoreboard *scoreboard)
{
    worker->scoreboard = scoreboard;
    worker->shared.queue.turns = &scoreboard->memory->turns;
    worker->admission = (struct bb__conn_admission){&worker->shared.queue, scoreboard};
}

void bb_worker_queue_counter(struct bb_worker *worker, struct bb_scoreboard *counter)
{
    worker->shared.queue.turns = &counter->memory->turns;
}

int bb_worker_event(struct bb_worker *worker, struct bb_event *event)
{
    if (bb__worker_is_inert(worker)) return BB_AGAIN;
    pthread_mutex_lock(&worker->lock);
    int code = bb__event_take(&worker->events, event);
    bb__worker_note_news(worker);
    pthread_mutex_unlock(&worker->lock);
    return code;
}

int bb_worker_alarm(const struct bb_worker *worker)
{
    return worker->limits.alarm.fd;
}

bool bb_worker_take_overdue(struct bb_worker *worker)
{
    int found = BB_OVERDUE_NEW;
    return atomic_compare_exchange_strong(&worker->limits.overdue, &found, BB_OVERDUE_TAKEN);
}

void bb_worker_overdue_is_logged(struct bb_worker *worker)
{
    int found = BB_OVERDUE_TAKEN; /* BB_OVERDUE_NEW stays, because another request is overdue */
    (void)atomic_compare_exchange_strong(&worker->limits.overdue, &found, BB_OVERDUE_LOGGED);
}

void bb_worker_tell(struct bb_worker *worker, int fd, const char bytes[BB_TELLS], bool host_logs)
{
    worker->parent.fd = fd;
    worker->parent.host_logs = host_logs;
    for (int tell = 0; tell < BB_TELLS; tell++) worker->parent.bytes[tell] = bytes[tell];
}

void bb__worker_tell_parent(const struct bb_worker *worker, enum bb_tell what)
{
    size_t sent;
    if (worker->parent.fd >= 0) (void)bb__sock_send(worker->parent.fd, &worker->parent.bytes[what], 1, &sent);
}

void bb_worker_show_detached(struct bb_worker *worker, unsigned count, bool waits)
{
    if (bb__worker_is_inert(worker)) return;
    pthread_mutex_lock(&worker->lock);
    for (struct bb__intake *lane = worker->lanes; lane; lane = lane->next) {
        if (!lane->slot) continue;
        atomic_store_explicit(&lane->slot->detached, count, memory_order_relaxed);
        atomic_store_explicit(&lane->slot->waits, waits, memory_order_relaxed);
        count = 0;
    }
    pthread_mutex_unlock(&worker->lock);
}

void bb_worker_beat(struct bb_worker *worker)
{
    if (bb__worker_is_inert(worker)) return;
    uint64_t now = bb__clock_ms();
    pthread_mutex_lock(&worker->lock);
    for (struct bb__intake *lane = worker->lanes; lane; lane = lane->next)
        if (lane->slot) atomic_store_explicit(&lane->slot->beat, now, memory_order_relaxed);
    pthread_mutex_unlock(&worker->lock);
}

void bb_worker_watch(struct bb_worker *worker, bool watch)
{
    if (bb__worker_is_inert(worker) || !worker->io || !worker->scoreboard) return;
    if (!atomic_exchange(&worker->limits.active, watch) && watch) bb__wakeup_raise(&worker->io->kick);
}

/* The listeners are still open if the worker was not drained, or if it had no descriptors for queued
 * connections. */
void bb__worker_give_numbers_back(struct bb_worker *worker)
{
    if (atomic_exchange(&worker->listen.state, BB_LISTENERS_GIVEN_BACK) == BB_LISTENERS_GIVEN_BACK) return;
    for (int i = 0; i < worker->listen.count; i++) (void)close(worker->listen.listeners[i].fd);
}

void bb__worker_lane_listens(struct bb_worker *worker)
{
    atomic_fetch_add(&worker->listen.lane_count, 1);
}

void bb__worker_lane_stops(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock); /* a new lane increments the counter before it waits for this lock */
    bool is_last = atomic_fetch_sub(&worker->listen.lane_count, 1) == 1;
    if (is_last && bb__worker_drains(worker)) bb__worker_give_numbers_back(worker);
    pthread_mutex_unlock(&worker->lock);
}
