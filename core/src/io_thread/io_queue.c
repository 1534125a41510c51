/* io_queue.c: applies max_queue and queue_timeout to requests that wait in the accept queues and in the
 * shared queue, while no lane of any process is idle. This file also takes the connections that were in the
 * accept queues when the worker began to drain (end gracefully). The I/O thread calls these functions while
 * it has the set (all connections) of a busy lane. See io_work.h. */
#include "conn/conn_admission.h"
#include "io_thread/io_work.h"

#include <stdlib.h>

#define ACCEPTS_MAX 64

static bool nobody_is_idle(const struct bb_worker *worker)
{
    return bb__scoreboard_idle(worker->scoreboard, 1) == 0;
}

/* ---- new connections ---- */

/* Accepts under the worker's lock, because another thread may close the listeners. Returns BB_AGAIN if there
 * is nothing to accept. */
static int accept_from(struct bb_worker *worker, int index, int *fd, struct bb__peer *peer)
{
    int code = BB_AGAIN;
    pthread_mutex_lock(&worker->lock);
    if (index < bb__worker_count_open(worker))
        code = bb__worker_accept(worker, &worker->listen.listeners[index], fd, peer);
    pthread_mutex_unlock(&worker->lock);
    return code;
}

static int take_over(struct bb__io_thread *io, struct bb_lane *lane, int fd,
                     const struct bb__listener *listener, const struct bb__peer *peer)
{
    struct bb__conn *conn = bb__conn_set_accept(&lane->set, &io->context, fd, listener->number, peer);
    if (!conn) return BB_ENOMEM;
    conn->tcp = listener->tcp;
    (void)bb__worker_find_room(io->worker, &conn->fd);
    bb__io_settle(io, lane, conn, bb__conn_on_ready(conn, &io->context, BB_INTEREST_READ));
    return BB_OK;
}

static int accept_one(struct bb__io_thread *io, struct bb_lane *lane, int index)
{
    const struct bb__listener *listener = &io->worker->listen.listeners[index];
    struct bb__peer peer;
    int fd;
    int code = accept_from(io->worker, index, &fd, &peer);
    return code == BB_OK ? take_over(io, lane, fd, listener, &peer) : code;
}

/* If accept4 fails, the connection stays in the accept queue. A lane logs the error when it tries to
 * accept. */
static void accept_all(struct bb__io_thread *io, struct bb_lane *lane)
{
    for (int index = 0; index < io->worker->listen.count; index++) {
        int code = BB_OK;
        for (int count = 0; count < ACCEPTS_MAX && code == BB_OK; count++) {
            if (!bb__worker_has_room(io->worker) || bb__io_is_wanted(lane)) return;
            code = accept_one(io, lane, index);
        }
    }
}

void bb__io_take_queued(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb__queued *queued;
    while (!bb__io_is_wanted(lane) && (queued = bb__worker_take_queued(io->worker))) {
        uint64_t read_at = io->context.read_at;
        io->context.read_at = queued->ready_at;
        (void)take_over(io, lane, queued->fd, queued->listener, &queued->peer);
        io->context.read_at = read_at;
        free(queued);
    }
}

/* ---- requests that wait ---- */

/* Whether the first message of the shared queue has waited for queue_timeout. A message without a request
 * counts, too, because it delays the messages behind it. */
static bool is_overdue(const struct bb__io_thread *io, const struct bb__shared_stamp *first)
{
    return bb__elapsed(bb__clock_us(), first->since) >= io->worker->settings.queue_timeout * 1000;
}

/* Takes the first message of the shared queue. Returns false if the queue is empty or fails. *nudged becomes
 * true if the message has no connection (bb__worker_nudge()). The caller has found that the first message is
 * overdue. If a lane has taken that message since then, this function takes the next message. If the request
 * of that message is not overdue, it goes to the end of the queue. */
static bool take_first(struct bb__io_thread *io, struct bb_lane *lane, bool *nudged)
{
    struct bb__conn_context *context = &io->context;
    struct bb__conn *conn;
    enum bb__received received =
        bb__conn_set_receive(&lane->set, context, &io->worker->shared.queue, &io->lost, &conn);
    if (received == BB_RECEIVED_NOTHING) return false;
    if (received == BB_RECEIVED_LOST) atomic_store(&io->worker->room.exhausted, true);
    *nudged = *nudged || received == BB_RECEIVED_NUDGE;
    if (!conn) return true;
    (void)bb__worker_find_room(io->worker, &conn->fd);
    bb__io_settle(io, lane, conn, bb__conn_resume(conn, context));
    return true;
}

static void reject_overdue(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb_worker *worker = io->worker;
    struct bb__shared_stamp first;
    bool nudged = false;
    while (!bb__io_is_wanted(lane) && bb__worker_has_room(worker) && bb__worker_has_descriptor(worker) &&
           bb__worker_has_places(worker) && bb__shared_queue_look(&worker->shared.queue, &first) == BB_OK &&
           is_overdue(io, &first))
        if (!take_first(io, lane, &nudged)) break;
    if (nudged) bb__shared_queue_nudge(&worker->shared.queue);
}

static void queue_reaper(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb_worker *worker = io->worker;
    if (!bb__scoreboard_begin_reaping(worker->scoreboard, worker->pid)) return;
    reject_overdue(io, lane);
    bb__scoreboard_end_reaping(worker->scoreboard);
}

/* Whether a connection or a message waits, although a lane shows that it is idle. If so, wakes another lane,
 * because the first wake-up may have gone to a process that is frozen (SIGSTOP). */
static bool is_left_waiting(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool waits = bb__worker_is_awaited(worker);
    if (waits) bb__shared_queue_nudge(&worker->shared.queue);
    pthread_mutex_unlock(&worker->lock);
    return waits;
}

int bb__io_check_queue(struct bb__io_thread *io, struct bb_lane *lane)
{
    struct bb_worker *worker = io->worker;
    struct bb__shared_stamp first;
    if (bb__worker_drains(worker)) return -1;
    if (!nobody_is_idle(worker)) bb__io_judge_idle(io, &io->waits_since, is_left_waiting(worker));
    bool on_our_own = nobody_is_idle(worker);
    if (on_our_own) accept_all(io, lane);
    if (worker->settings.queue_timeout > 0) queue_reaper(io, lane);
    bool soon =
        on_our_own || io->waits_since > 0 || bb__shared_queue_look(&worker->shared.queue, &first) == BB_OK;
    return soon ? BB_RETRY : BB_PROMPT;
}
