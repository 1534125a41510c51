/* shared_queue.h: a queue that the processes of a server share. A message has some bytes and some
 * descriptors. The kernel keeps the messages, first in, first out, also after the sender has died. Any
 * thread of any process may send and take. Used by lanes and I/O threads. Knows no connection. */
#ifndef BB_SHARED_QUEUE_H
#define BB_SHARED_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BB_SHARED_QUEUE_FDS   3
#define BB_SHARED_QUEUE_PARTS 3

/* The longest message. A socket buffer of the usual size would hold only a few longer messages. */
#define BB_SHARED_QUEUE_BYTES (24 * 1024)

struct bb__shared_message;

struct bb__shared_queue {
    int in;                      /* messages are sent here */
    int out;                     /* messages come out here; readable if there is one */
    atomic_uint_fast64_t *turns; /* requests that all processes have sent; NULL: not counted */
};

/* Each message begins with a stamp, which can be read without taking the message. The stamp's layout is the
 * same in all versions of the server, because two versions share a queue during a deploy. The bytes after the
 * stamp describe their own layout. */
struct bb__shared_stamp {
    uint64_t turn;  /* how many requests were sent before this message */
    uint64_t since; /* us, when its request began to wait; without a request: when the message was sent */
    bool has_request;
    uint8_t sent_back; /* how often workers have sent the message back because they could not use it */
};

/* Makes a queue that only this process has. BB_OK or BB_ESYSTEM. */
int bb__shared_queue_open(struct bb__shared_queue *shared_queue);

/* Takes over a queue that other processes have as well: a pair of unix sockets of type SOCK_SEQPACKET.
 * Makes both non-blocking and close-on-exec. BB_OK; BB_ESYSTEM, also if it is not such a pair: the
 * descriptors stay the caller's. */
int bb__shared_queue_adopt(struct bb__shared_queue *shared_queue, int in, int out);

void bb__shared_queue_close(struct bb__shared_queue *shared_queue);

/* Sends up to BB_SHARED_QUEUE_PARTS parts as one message of at most BB_SHARED_QUEUE_BYTES, with copies of up
 * to BB_SHARED_QUEUE_FDS descriptors. since: us, when the request in the message began to wait; 0: there is
 * no request. BB_OK; BB_AGAIN: no room now; BB_ESYSTEM. */
int bb__shared_queue_send(const struct bb__shared_queue *shared_queue, uint64_t since,
                          const struct iovec *parts, size_t count, const int *fds, size_t fd_count);

/* Sends a message that was taken to the end of the queue, for another process. BB_OK: its descriptors are
 * closed; BB_AGAIN, BB_ESYSTEM: the message is still the caller's. */
int bb__shared_queue_send_back(const struct bb__shared_queue *shared_queue, char *bytes,
                               struct bb__shared_message *message);

/* Wakes a lane of any process by a message without bytes and descriptors. The lane that takes the message
 * looks for other work, too. */
void bb__shared_queue_nudge(const struct bb__shared_queue *shared_queue);

/* Makes a file in memory for bytes that are too long for a message. The file's descriptor goes with the
 * message, and the caller closes it after sending. Returns -1 if there is no room for a file. */
int bb__shared_queue_make_file(const char *bytes, size_t len);

/* Reads such a file from its beginning, and closes it. False: the file is shorter than `len`. */
bool bb__shared_queue_read_file(int fd, char *bytes, size_t len);

struct bb__shared_message {
    struct bb__shared_stamp stamp;
    size_t len; /* bytes of the message behind the stamp */
    int fds[BB_SHARED_QUEUE_FDS];
    size_t fd_count;
};

/* Takes a message. `bytes` has room for BB_SHARED_QUEUE_BYTES. The descriptors are close-on-exec, and the
 * caller closes them. BB_OK; BB_AGAIN: there is no message; BB_ELOST: a message was lost, because this
 * process had no room for its descriptors; BB_ESYSTEM. */
int bb__shared_queue_take(const struct bb__shared_queue *shared_queue, char *bytes,
                          struct bb__shared_message *message);

/* Reads the stamp of the next message, which stays in the queue. BB_OK, or BB_AGAIN: there is no message. */
int bb__shared_queue_look(const struct bb__shared_queue *shared_queue, struct bb__shared_stamp *first);

/* Returns how many requests are in the queue. first: the stamp of its first message. If a process dies before
 * it has counted a message that it has sent, the result is too low by 1 until this message is taken. */
static inline uint64_t bb__shared_queue_waiting(const struct bb__shared_queue *shared_queue,
                                                const struct bb__shared_stamp *first)
{
    return shared_queue->turns ? atomic_load(shared_queue->turns) - first->turn : 0;
}

#endif
