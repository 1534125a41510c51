/* worker_drain.c: how a worker begins to drain (to end gracefully). The thread that calls bb_worker_drain()
 * closes the listeners, even while all lanes are busy. So the next server finds the address free, and no
 * client connects to a server that ends. With BB_QUEUE_TAKE the thread first accepts the queued connections.
 * With BB_QUEUE_LEAVE other workers accept these connections. See bontebok.h for the contract. */
#include "conn/conn_transfer.h"
#include "sockets/descriptor.h"
#include "worker/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Other workers may accept connections from the same queue at the same time. So this worker pauses after some
 * connections. During the pauses idle workers accept most of the connections. On a busy machine some workers
 * wake up 20 ms later than others. Until all workers are awake (WAKE_TIME), this worker accepts one
 * connection between two pauses. */
#define SLICE_PAUSE 1000 /* us */
#define WAKE_TIME   50   /* ms */
#define SLICES_TIME 200  /* ms; after this time all queued connections are accepted at once: see slice() */

static void queue_up(struct bb_worker *worker, struct bb__queued *queued)
{
    if (worker->queued.first)
        worker->queued.last->next = queued;
    else
        worker->queued.first = queued;
    worker->queued.last = queued;
    atomic_fetch_add_explicit(&worker->queued.count, 1, memory_order_release);
}

/* If all lanes of this worker are busy, sends the connection to the shared queue, because another worker may
 * have an idle lane. */
static bool pass_on(const struct bb_worker *worker, const struct bb__queued *queued)
{
    if (bb__worker_count_waiting(worker) > 0 || !bb__scoreboard_has_others(worker->scoreboard, worker->pid))
        return false;
    struct bb__conn conn = {.fd = queued->fd,
                            .state = BB_CONN_HEAD,
                            .listener = queued->listener->number,
                            .tcp = queued->listener->tcp,
                            .wait.ready_at = queued->ready_at};
    bb__spool_start(&conn.spool);
    conn.peer = queued->peer;
    if (bb__conn_transfer(&conn, worker->listen.addresses, &worker->shared.queue) != BB_OK) return false;
    bb__count(&worker->metrics.counts, BB_COUNT_ACCEPTED, 1);
    bb__count(&worker->metrics.counts, BB_COUNT_PASSED_ON, 1);
    bb__sock_abandon(queued->fd);
    return true;
}

static int take_one(struct bb_worker *worker, const struct bb__listener *listener)
{
    struct bb__queued *queued = calloc(1, sizeof *queued);
    if (!queued) return BB_ENOMEM;
    int code = bb__sock_accept(listener->fd, &queued->fd, &queued->peer);
    if (code != BB_OK) {
        int error = errno;
        free(queued);
        errno = error;
        return code;
    }
    queued->listener = listener;
    queued->ready_at = bb__clock_us();
    if (pass_on(worker, queued))
        free(queued);
    else
        queue_up(worker, queued);
    return BB_OK;
}

/* Accepts up to `most` connections of one listener. Returns 0 if the accept queue is empty, EAGAIN if the
 * accept queue may have more, otherwise an errno. The errno is EMFILE also if only the reserved descriptors
 * are left. Even then one connection is accepted, so that a lane that calls this again makes progress. */
static int take_queue(struct bb_worker *worker, const struct bb__listener *listener, int most)
{
    for (int taken = 0; taken < most; taken++) {
        int code = take_one(worker, listener);
        if (code == BB_AGAIN || (code == BB_ESYSTEM && bb__sock_is_useless(errno))) return 0;
        if (code != BB_OK) return errno;
        if (worker->queued.first && worker->queued.last->fd >= worker->room.reserve) return EMFILE;
    }
    return EAGAIN;
}

/* As take_queue(), for all listeners. The kernel has completed the handshake of queued connections, so their
 * clients expect a response. */
static int take_queues(struct bb_worker *worker, int most)
{
    bool more = false;
    for (int i = 0; i < worker->listen.count; i++) {
        int error = take_queue(worker, &worker->listen.listeners[i], most);
        if (error != 0 && error != EAGAIN) return error;
        more = more || error == EAGAIN;
    }
    return more ? EAGAIN : 0;
}

/* For each listener:
 * 1. Removes the listener from the pollers of all lanes. Otherwise they would report the listener while
 *    another process has the listener open. After this step new connections wake no lane of this worker.
 * 2. Accepts the connections that have already woken a lane of this worker, because no other process accepts
 *    them. With BB_QUEUE_LEAVE these are at most one per waiting lane.
 * 3. Closes the listener, and makes its descriptor a copy of drain.wakeup.fd. A lane may be about to call
 * accept4 with this descriptor. accept4 fails for drain.wakeup.fd. */
static void close_listeners(struct bb_worker *worker, enum bb_queue queue)
{
    atomic_store(&worker->listen.state, BB_LISTENERS_CLOSED);
    for (int i = 0; i < worker->listen.count; i++) {
        int fd = worker->listen.listeners[i].fd;
        for (struct bb__intake *lane = worker->lanes; lane; lane = lane->next)
            bb__poller_remove(lane->poller, fd);
        int most = queue == BB_QUEUE_LEAVE ? bb__worker_count_waiting(worker) : BB_IN_A_ROW;
        (void)take_queue(worker, &worker->listen.listeners[i], most);
        while (!bb__descriptor_replace(fd, worker->drain.wakeup.fd) && (errno == EINTR || errno == EBUSY))
            continue;
    }
}

static void leave_queues(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    if (!bb__worker_has_closed(worker)) close_listeners(worker, BB_QUEUE_LEAVE);
    pthread_mutex_unlock(&worker->lock);
}

/* Accepts up to `most` connections per listener. Closes the listeners and returns 0 if the queues are empty,
 * or if BB_TAKEN_MAX connections of a queue were accepted. Otherwise returns an errno. EAGAIN: there may be
 * more connections. */
static int take_and_close(struct bb_worker *worker, int most)
{
    int error = 0;
    pthread_mutex_lock(&worker->lock);
    if (!bb__worker_has_closed(worker)) {
        error = take_queues(worker, most);
        if (error == EAGAIN && most == BB_TAKEN_MAX) error = 0;
        if (error == 0) close_listeners(worker, BB_QUEUE_TAKE);
    }
    pthread_mutex_unlock(&worker->lock);
    return error;
}

int bb__worker_take_queues(struct bb_worker *worker)
{
    return take_and_close(worker, BB_TAKEN_MAX);
}

/* Returns how many connections per listener to accept before the next pause. taken_for: ms since the first
 * accept. If SLICES_TIME has passed, clients flood the server, or the machine is very busy. In this case all
 * queued connections are accepted at once. */
static int slice(uint64_t taken_for)
{
    return taken_for < WAKE_TIME ? 1 : taken_for < SLICES_TIME ? BB_IN_A_ROW : BB_TAKEN_MAX;
}

static void take_in_slices(struct bb_worker *worker)
{
    static const struct timespec pause = {.tv_nsec = SLICE_PAUSE * 1000};
    uint64_t began = bb__clock_ms();
    while (take_and_close(worker, slice(bb__elapsed(bb__clock_ms(), began))) == EAGAIN)
        (void)nanosleep(&pause, NULL);
}

bool bb__worker_hands_over(const struct bb_worker *worker)
{
    if (!bb__worker_drains(worker)) return false;
    if (bb__scoreboard_is_taken_over(worker->scoreboard)) return true;
    return atomic_load(&worker->drain.queue) == BB_QUEUE_LEAVE &&
           (atomic_load(&worker->limits.stuck) ||
            bb__scoreboard_has_siblings(worker->scoreboard, worker->pid));
}

static void show_on_scoreboard(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    for (struct bb__intake *lane = worker->lanes; lane; lane = lane->next)
        if (lane->slot) atomic_store(&lane->slot->leaves, true);
    pthread_mutex_unlock(&worker->lock);
}

void bb_worker_drain(struct bb_worker *worker, enum bb_queue queue)
{
    if (bb__worker_is_inert(worker)) return;
    show_on_scoreboard(worker);
    if (queue == BB_QUEUE_TAKE)
        take_in_slices(worker); /* if descriptors run out, the lanes accept the rest */
    else
        leave_queues(worker);
    uint_fast64_t never = 0;
    atomic_store(&worker->drain.queue, (int)queue);
    (void)atomic_compare_exchange_strong(&worker->drain.began, &never, bb__clock_ms());
    bb__wakeup_raise(&worker->drain.wakeup);
}

struct bb__queued *bb__worker_take_queued(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct bb__queued *queued = worker->queued.first;
    if (queued) {
        worker->queued.first = queued->next;
        atomic_fetch_sub_explicit(&worker->queued.count, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&worker->lock);
    return queued;
}
