/* shared_queue_local.c: see shared_queue.h. A queue in the memory of one process, for systems without sockets
 * of type SOCK_SEQPACKET. Its messages have copies of the descriptors, as if the kernel had passed them. */
#ifdef BB_PORTABLE

#include "base/clock.h"
#include "bontebok.h"
#include "sockets/wakeup.h"
#include "system/shared_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The queue is full when it has this many bytes, as in shared_queue.c. */
#define QUEUE_BYTES (1024 * 1024)

struct message {
    struct message *next;
    struct bb__shared_message head;
    char bytes[]; /* head.len */
};

struct bb__local_queue {
    pthread_mutex_t lock;
    struct bb__wakeup filled; /* raised while there is a message */
    struct message *first, *last;
    size_t bytes;
};

/* ---- open, close ---- */

int bb__shared_queue_open(struct bb__shared_queue *shared_queue)
{
    struct bb__local_queue *queue = calloc(1, sizeof *queue);
    if (!queue) return BB_ENOMEM;
    if (bb__wakeup_open(&queue->filled) != BB_OK) {
        free(queue);
        return BB_ESYSTEM;
    }
    (void)pthread_mutex_init(&queue->lock, NULL); /* cannot fail for a default mutex */
    *shared_queue = (struct bb__shared_queue){.local = queue, .in = -1, .out = queue->filled.fd};
    return BB_OK;
}

int bb__shared_queue_adopt(struct bb__shared_queue *shared_queue, int in, int out)
{
    (void)shared_queue, (void)in, (void)out;
    errno = ENOSYS;
    return BB_ESYSTEM;
}

static void drop_descriptors(struct bb__shared_message *message)
{
    while (message->fd_count > 0) (void)close(message->fds[--message->fd_count]);
}

/* Takes no lock: in a forked child a thread of the parent may hold its copy. */
void bb__shared_queue_close(struct bb__shared_queue *shared_queue)
{
    struct bb__local_queue *queue = shared_queue->local;
    for (struct message *message; (message = queue->first); free(message)) {
        queue->first = message->next;
        drop_descriptors(&message->head);
    }
    bb__wakeup_close(&queue->filled);
    free(queue);
}

/* ---- sending ---- */

static bool copy_descriptors(struct bb__shared_message *message, const int *fds, size_t count)
{
    for (; message->fd_count < count; message->fd_count++) {
        int copy = fcntl(fds[message->fd_count], F_DUPFD_CLOEXEC, 0);
        if (copy < 0) return false;
        message->fds[message->fd_count] = copy;
    }
    return true;
}

static struct message *make(const struct bb__shared_stamp *stamp, const struct iovec *parts, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++) len += parts[i].iov_len;
    struct message *made = malloc(sizeof *made + len);
    if (!made) return NULL;
    made->next = NULL;
    made->head = (struct bb__shared_message){.stamp = *stamp, .len = len};
    char *at = made->bytes;
    for (size_t i = 0; i < count; at += parts[i++].iov_len)
        if (parts[i].iov_len > 0) memcpy(at, parts[i].iov_base, parts[i].iov_len);
    return made;
}

static size_t size_of(const struct message *message)
{
    return sizeof *message + message->head.len;
}

/* Counts the request only if there is room for the message. */
static bool append(const struct bb__shared_queue *shared_queue, struct message *message)
{
    struct bb__local_queue *queue = shared_queue->local;
    atomic_uint_fast64_t *turns = shared_queue->turns;
    pthread_mutex_lock(&queue->lock);
    bool fits = queue->bytes < QUEUE_BYTES;
    if (fits) {
        if (turns) message->head.stamp.turn = atomic_load(turns);
        if (turns && message->head.stamp.has_request) (void)atomic_fetch_add(turns, 1);
        if (queue->first)
            queue->last->next = message;
        else
            queue->first = message;
        queue->last = message;
        queue->bytes += size_of(message);
        bb__wakeup_clear(&queue->filled);
        bb__wakeup_raise(&queue->filled);
    }
    pthread_mutex_unlock(&queue->lock);
    return fits;
}

static int send_stamped(const struct bb__shared_queue *shared_queue, const struct bb__shared_stamp *stamp,
                        const struct iovec *parts, size_t count, const int *fds, size_t fd_count)
{
    if (!shared_queue->local) {
        errno = ENOSYS;
        return BB_ESYSTEM;
    }
    struct message *message = make(stamp, parts, count);
    if (!message) return BB_AGAIN;
    bool copied = copy_descriptors(&message->head, fds, fd_count);
    int code = copied ? BB_OK : errno == EMFILE ? BB_AGAIN : BB_ESYSTEM;
    if (code == BB_OK && !append(shared_queue, message)) code = BB_AGAIN;
    if (code == BB_OK) return BB_OK;
    int error = errno;
    drop_descriptors(&message->head);
    free(message);
    errno = error;
    return code;
}

int bb__shared_queue_send(const struct bb__shared_queue *shared_queue, uint64_t since,
                          const struct iovec *parts, size_t count, const int *fds, size_t fd_count)
{
    struct bb__shared_stamp stamp = {.since = since > 0 ? since : bb__clock_us(), .has_request = since > 0};
    return send_stamped(shared_queue, &stamp, parts, count, fds, fd_count);
}

void bb__shared_queue_nudge(const struct bb__shared_queue *shared_queue)
{
    /* If the queue is full, its messages wake waiting threads without a nudge. */
    (void)bb__shared_queue_send(shared_queue, 0, NULL, 0, NULL, 0);
}

int bb__shared_queue_send_back(const struct bb__shared_queue *shared_queue, char *bytes,
                               struct bb__shared_message *message)
{
    const struct iovec part = {bytes, message->len};
    struct bb__shared_stamp stamp = message->stamp;
    int code = send_stamped(shared_queue, &stamp, &part, 1, message->fds, message->fd_count);
    if (code == BB_OK) drop_descriptors(message);
    return code;
}

/* ---- receiving ---- */

bool bb__shared_queue_fits(const struct bb__shared_queue *shared_queue)
{
    (void)shared_queue;
    return true;
}

int bb__shared_queue_take(const struct bb__shared_queue *shared_queue, char *bytes,
                          struct bb__shared_message *message)
{
    struct bb__local_queue *queue = shared_queue->local;
    pthread_mutex_lock(&queue->lock);
    struct message *first = queue->first;
    if (first) {
        queue->first = first->next;
        queue->bytes -= size_of(first);
        if (!queue->first) bb__wakeup_clear(&queue->filled);
    }
    pthread_mutex_unlock(&queue->lock);
    if (!first) return BB_AGAIN;
    *message = first->head;
    bool whole = message->len <= BB_SHARED_QUEUE_BYTES;
    if (whole) memcpy(bytes, first->bytes, message->len);
    free(first);
    if (whole) return BB_OK;
    drop_descriptors(message);
    return BB_ELOST;
}

int bb__shared_queue_look(const struct bb__shared_queue *shared_queue, struct bb__shared_stamp *first)
{
    struct bb__local_queue *queue = shared_queue->local;
    if (!queue) return BB_AGAIN;
    pthread_mutex_lock(&queue->lock);
    bool found = queue->first != NULL;
    if (found) *first = queue->first->head.stamp;
    pthread_mutex_unlock(&queue->lock);
    return found ? BB_OK : BB_AGAIN;
}

#endif
