/* shared_queue.h: a queue between the processes of a server: messages of some bytes and some descriptors,
 * kept by the kernel, first come first served; what is in it survives whoever has sent it. Any thread of any
 * of them sends and takes. Used by I/O thread and lane. Knows no connection. */
#ifndef BB_SHARED_QUEUE_H
#define BB_SHARED_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define BB_SHARED_QUEUE_FDS   3
#define BB_SHARED_QUEUE_PARTS 3

/* A longer message would fit a queue of the usual length a few times only. */
#define BB_SHARED_QUEUE_BYTES (24 * 1024)

struct bb__shared_message;

struct bb__shared_queue {
    int in;                      /* messages are sent to it */
    int out;                     /* and come out of this one: readable when there is one */
    atomic_uint_fast64_t *turns; /* of all processes: requests that were sent; NULL: nobody counts them */
};

/* What each message begins with, for those who only look. It is the same in all versions: while a server is
 * deployed two of them share a queue. What comes behind it says itself how it is laid out. */
struct bb__shared_stamp {
    uint64_t turn;  /* so many requests were sent before it */
    uint64_t since; /* us, when its request began to wait, or, if there is none, when it was sent */
    bool has_request;
    uint8_t sent_back; /* so often, by workers that cannot use it */
};

/* A queue of its own. BB_OK or BB_ESYSTEM. */
int bb__shared_queue_open(struct bb__shared_queue *shared_queue);

/* One that others have as well: a pair of unix sockets, SOCK_SEQPACKET. Made non-blocking and close-on-exec.
 * BB_OK; BB_ESYSTEM: the descriptors stay the caller's, as when they are something else. */
int bb__shared_queue_adopt(struct bb__shared_queue *shared_queue, int in, int out);

void bb__shared_queue_close(struct bb__shared_queue *shared_queue);

/* Up to BB_SHARED_QUEUE_PARTS parts as one message, at most BB_SHARED_QUEUE_BYTES, with copies of up to
 * BB_SHARED_QUEUE_FDS descriptors. since: us, when the request in it began to wait; 0: there is none. BB_OK;
 * BB_AGAIN: no room for it now; BB_ESYSTEM. */
int bb__shared_queue_send(const struct bb__shared_queue *shared_queue, uint64_t since,
                          const struct iovec *parts, size_t count, const int *fds, size_t fd_count);

/* Puts a message that was taken to the end of the queue again, for somebody else. BB_OK: its descriptors are
 * closed; BB_AGAIN, BB_ESYSTEM: it is still the caller's. */
int bb__shared_queue_send_back(const struct bb__shared_queue *shared_queue, char *bytes,
                               struct bb__shared_message *message);

/* A message without bytes or descriptors: whoever is woken for it looks what else there is. */
void bb__shared_queue_nudge(const struct bb__shared_queue *shared_queue);

/* What is too long for a message, as a file in memory that goes with it; to be closed when it was sent. -1:
 * there is no room for one. */
int bb__shared_queue_make_file(const char *bytes, size_t len);

/* Reads such a file from its beginning, and closes it. */
bool bb__shared_queue_read_file(int fd, char *bytes, size_t len);

struct bb__shared_message {
    struct bb__shared_stamp stamp;
    size_t len; /* of the message behind it */
    int fds[BB_SHARED_QUEUE_FDS];
    size_t fd_count;
};

/* Takes one: `bytes` has room for BB_SHARED_QUEUE_BYTES. The descriptors are the caller's to close,
 * close-on-exec. BB_OK; BB_AGAIN: there is none; BB_EGONE: a message was lost, its descriptors had no room in
 * this process; BB_ESYSTEM. */
int bb__shared_queue_take(const struct bb__shared_queue *shared_queue, char *bytes,
                          struct bb__shared_message *message);

/* Looks at the one that is taken next; it stays. BB_OK, or BB_AGAIN: there is none. */
int bb__shared_queue_look(const struct bb__shared_queue *shared_queue, struct bb__shared_stamp *first);

/* How many requests are in the queue whose first message has this stamp. Who dies while he sends counts wrong
 * until what he has sent is taken, no longer: it is a difference of two numbers that only grow. */
static inline uint64_t bb__shared_queue_waiting(const struct bb__shared_queue *shared_queue,
                                                const struct bb__shared_stamp *first)
{
    return shared_queue->turns ? atomic_load(shared_queue->turns) - first->turn : 0;
}

#endif
