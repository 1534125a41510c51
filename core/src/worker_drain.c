/* worker_drain.c: the order to drain. Whoever gives it takes the queues and closes the listeners, whatever
 * the lanes are busy with: a server that is to take the place finds it free, and nobody connects to one that
 * is leaving. See bontebok.h for the contract. */
#include "lane.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int take_one(struct bb_worker *worker, const struct bb__listener *listener, struct bb__queued ***last)
{
    struct bb__queued *queued = malloc(sizeof *queued);
    if (!queued) return BB_ENOMEM;
    int code = bb__sock_accept(listener->fd, &queued->fd, queued->peer);
    if (code != BB_OK) {
        int error = errno;
        free(queued);
        errno = error;
        return code;
    }
    queued->listener = listener;
    queued->next = NULL;
    **last = queued;
    *last = &queued->next;
    atomic_fetch_add_explicit(&worker->queued_count, 1, memory_order_release);
    return BB_OK;
}

/* What the queues hold has been promised an answer by the kernel. 0, or the error for which not all of it
 * could be taken. */
static int take_queues(struct bb_worker *worker)
{
    struct bb__queued **last = &worker->queued;
    while (*last) last = &(*last)->next;
    for (int i = 0; i < worker->listener_count; i++) {
        int code = BB_OK;
        for (int taken = 0; code == BB_OK && taken < BB_DRAIN_ACCEPTS_MAX; taken++)
            code = take_one(worker, &worker->listeners[i], &last);
        if (code == BB_ENOMEM || (code == BB_ESYSTEM && !bb__sock_is_useless(errno))) return errno;
    }
    return 0;
}

/* A listener leaves each set before it is closed: as long as another process has it, its events would go on
 * coming, and nothing could be done about it. A lane may be about to accept from it: something that accepts
 * nothing takes the number, so that nobody else gets it meanwhile. */
static void end_listening(struct bb_worker *worker)
{
    atomic_store(&worker->deaf, true);
    for (int i = 0; i < worker->listener_count; i++) {
        int fd = worker->listeners[i].fd;
        for (struct bb_lane *lane = worker->lanes; lane; lane = lane->next)
            bb__poller_remove(&lane->poller, fd);
        (void)dup3(worker->drain_fd, fd, O_CLOEXEC);
    }
}

int bb__worker_stop_listening(struct bb_worker *worker)
{
    int error = 0;
    pthread_mutex_lock(&worker->lock);
    if (!atomic_load(&worker->deaf)) {
        error = take_queues(worker);
        if (error == 0) end_listening(worker);
    }
    pthread_mutex_unlock(&worker->lock);
    return error;
}

void bb_worker_drain(struct bb_worker *worker)
{
    if (bb__worker_is_inert(worker)) return;
    (void)bb__worker_stop_listening(worker); /* without room for it the lanes go on */
    atomic_store(&worker->draining, true);
    bb__event_raise(worker->drain_fd);
}

struct bb__queued *bb__worker_take_queued(struct bb_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    struct bb__queued *queued = worker->queued;
    if (queued) {
        worker->queued = queued->next;
        atomic_fetch_sub_explicit(&worker->queued_count, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&worker->lock);
    return queued;
}
