/* poller.h: wraps epoll (poller_epoll.c), or poll() where the switch BB_PORTABLE is set (poller_poll.c);
 * level-triggered. A poller has the descriptors that a lane or the I/O thread waits for. The caller gives a
 * tag with each descriptor, and the events of the descriptor carry this tag. */
#ifndef BB_POLLER_H
#define BB_POLLER_H

#include "sockets/sock.h"

#include <stdbool.h>
#include <stdint.h>

#ifndef BB_PORTABLE
#include <sys/epoll.h>
#endif

/* The most events that one wait returns. With more, events would wait longer while the lane serves a long
 * request. With fewer, epoll_wait would be called more often. */
#define BB_BATCH 16

#ifdef BB_PORTABLE
struct bb__poller_event {
    uint32_t events; /* a mask of enum bb__interest */
    union {
        void *ptr; /* the tag */
    } data;
};

struct bb__poller {
    int fd; /* -1: not open */
    struct bb__poll_set *set;
};
#else
#define bb__poller_event epoll_event

struct bb__poller {
    int fd;
};
#endif

/* The events of one wait. `next` is the index of the first event that was not handled yet. */
struct bb__batch {
    struct bb__poller_event events[BB_BATCH];
    int count, next;
};

/* Returns BB_OK, BB_ESYSTEM or BB_ENOMEM. */
int bb__poller_open(struct bb__poller *poller);
void bb__poller_close(struct bb__poller *poller);

/* interest: a mask of enum bb__interest. BB_OK, BB_ENOMEM or BB_ESYSTEM (no epoll watches are left). */
int bb__poller_add(struct bb__poller *poller, int fd, uint32_t interest, void *tag);
int bb__poller_change(struct bb__poller *poller, int fd, uint32_t interest, void *tag);
void bb__poller_remove(struct bb__poller *poller, int fd);

/* Adds a descriptor that other lanes and processes also wait for: a listener or the shared queue. An event
 * wakes only one sleeping lane (EPOLLEXCLUSIVE); with poll() it wakes all, and all but one find nothing. */
int bb__poller_add_shared(struct bb__poller *poller, int fd, void *tag);

/* Adds another poller, edge-triggered: it is reported once for each new event of that poller. With poll(), an
 * event is new if the last wait of that poller did not report it. */
int bb__poller_add_poller(struct bb__poller *poller, struct bb__poller *added, void *tag);
void bb__poller_remove_poller(struct bb__poller *poller, struct bb__poller *added);

/* Waits for events and fills *batch. The caller has handled all events that were in *batch. timeout_ms: 0
 * does not wait, -1 waits without limit. If a signal ends the wait, *batch is empty. BB_OK; BB_ESYSTEM:
 * *batch is empty, and the next wait may fail, too. */
int bb__poller_wait(struct bb__poller *poller, struct bb__batch *batch, int timeout_ms);

/* Moves the events that have one of these interests (a mask of enum bb__interest) to the front. */
void bb__batch_put_first(struct bb__batch *batch, uint32_t interest);

/* Sets the tag to NULL in the batch, because the object of the tag is about to be freed. */
void bb__batch_forget(struct bb__batch *batch, const void *tag);

static inline bool bb__batch_empty(const struct bb__batch *batch)
{
    return batch->next >= batch->count;
}

#endif
