/* shared_queue.h: a queue that the processes of a server share. A message has some bytes and some
 * descriptors. The kernel holds the messages, first in, first out, even after the sender has died. Any thread
 * of any process may send and receive. Where the switch BB_PORTABLE is set, the queue is in the memory of one
 * process (shared_queue_local.c). Used by lanes and I/O threads. conn_transfer.c puts connections into
 * messages. */
#ifndef BB_SHARED_QUEUE_H
#define BB_SHARED_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BB_SHARED_QUEUE_FDS   3
#define BB_SHARED_QUEUE_PARTS 3

/* Bytes of the longest message. A socket buffer of the usual size would hold only a few longer messages. */
#define BB_SHARED_QUEUE_BYTES (24 * 1024)

/* Whether a process needs free descriptors to receive a message. The descriptors of a queue in memory are
 * already open. */
#ifdef BB_PORTABLE
#define BB_SHARED_QUEUE_NEEDS_FREE false
#else
#define BB_SHARED_QUEUE_NEEDS_FREE true
#endif

struct bb__shared_message;

struct bb__shared_queue {
#ifdef BB_PORTABLE
    struct bb__local_queue *local;
#endif
    bool has_peers;              /* other processes use it, too */
    int in;                      /* messages are sent here */
    int out;                     /* messages are received here; readable if there is a message */
    atomic_uint_fast64_t *turns; /* requests that all processes have sent; NULL: not counted */
};

/* Each message begins with a stamp, which can be read without receiving the message. Two versions of the
 * server share a queue during a deploy, so a change of the stamp needs another BB_LAYOUT (scoreboard.h). The
 * bytes after the stamp describe their own layout. */
struct bb__shared_stamp {
    uint64_t turn;  /* how many requests were sent before this message */
    uint64_t since; /* us, when the request began to wait; without a request: when the message was sent */
    bool has_request;
    uint8_t sent_back; /* how often workers have sent the message back because they could not use it */
    uint8_t spare[6];  /* 0 */
};

/* Makes a queue for this process alone. BB_OK, BB_ESYSTEM or BB_ENOMEM. */
int bb__shared_queue_open(struct bb__shared_queue *shared_queue);

/* Uses a queue that other processes use, too. `in` and `out` are the ends of a pair of unix sockets of type
 * SOCK_SEQPACKET. Makes both ends non-blocking and close-on-exec. BB_OK: the queue owns both; BB_ESYSTEM,
 * also if the sockets are of another type: the caller still owns both. */
int bb__shared_queue_adopt(struct bb__shared_queue *shared_queue, int in, int out);

void bb__shared_queue_close(struct bb__shared_queue *shared_queue);

/* Sends up to BB_SHARED_QUEUE_PARTS parts as one message of at most BB_SHARED_QUEUE_BYTES, with copies of up
 * to BB_SHARED_QUEUE_FDS descriptors. since: us, when the request in the message began to wait; 0: there is
 * no request. BB_OK; BB_AGAIN: no room now; BB_ESYSTEM. */
int bb__shared_queue_send(const struct bb__shared_queue *shared_queue, uint64_t since,
                          const struct iovec *parts, size_t count, const int *fds, size_t fd_count);

/* Sends a received message again, to the end of the queue, for another process. BB_OK: its descriptors are
 * closed here; BB_AGAIN, BB_ESYSTEM: the caller still owns the message. */
int bb__shared_queue_send_back(const struct bb__shared_queue *shared_queue, char *bytes,
                               struct bb__shared_message *message);

/* Wakes a lane of any process with a message that has no bytes and no descriptors. The woken lane then looks
 * for work. */
void bb__shared_queue_nudge(const struct bb__shared_queue *shared_queue);

/* Makes a file for bytes that are too long for a message: in memory, without Linux in the directory for
 * temporary files. The caller sends the descriptor with the message, and closes it after sending. Returns -1
 * if there is no room for a file. */
int bb__shared_queue_make_file(const char *bytes, size_t len);

/* Reads the first `len` bytes of a file from bb__shared_queue_make_file(), and closes the file. False: the
 * file is shorter. */
bool bb__shared_queue_read_file(int fd, char *bytes, size_t len);

struct bb__shared_message {
    struct bb__shared_stamp stamp;
    size_t len; /* bytes of the message after the stamp */
    int fds[BB_SHARED_QUEUE_FDS];
    size_t fd_count;
};

/* Receives a message. `bytes` has room for BB_SHARED_QUEUE_BYTES. The descriptors are close-on-exec, and the
 * caller closes them. BB_OK; BB_AGAIN: there is no message; BB_ELOST: a message was lost, because this
 * process has too few free descriptors; BB_ESYSTEM. */
int bb__shared_queue_take(const struct bb__shared_queue *shared_queue, char *bytes,
                          struct bb__shared_message *message);

/* Returns whether this process has free descriptors for those of the next message, which stays in the queue.
 * True: there may be no message. */
bool bb__shared_queue_fits(const struct bb__shared_queue *shared_queue);

/* Reads the stamp of the next message, which stays in the queue. BB_OK, or BB_AGAIN: there is no message. */
int bb__shared_queue_look(const struct bb__shared_queue *shared_queue, struct bb__shared_stamp *first);

/* Returns how many requests are in the queue. first: the stamp of the first message in the queue. A process
 * may die after it has sent a message and before it has counted the message. Then the result is too low by 1
 * until the message is received. */
static inline uint64_t bb__shared_queue_waiting(const struct bb__shared_queue *shared_queue,
                                                const struct bb__shared_stamp *first)
{
    return shared_queue->turns ? atomic_load(shared_queue->turns) - first->turn : 0;
}

#endif
