/* poller.h: a set of descriptors that a lane or the I/O thread waits for: epoll, level-triggered. Linux
 * only; another system needs another poller.c. Knows no connection: an event carries the tag of its
 * descriptor. */
#ifndef BB_POLLER_H
#define BB_POLLER_H

#include "system/sock.h"

#include <stdbool.h>
#include <stdint.h>

/* Events per wait: few, because events wait while the lane serves a long request, but enough to make the call
 * cheap. */
#define BB_BATCH 16

struct bb__poller {
    int fd;
};

/* The events of one wait. `next` is the first event that was not handled yet. */
struct bb__batch {
    struct epoll_event events[BB_BATCH];
    int count, next;
};

/* BB_OK or BB_ESYSTEM. */
int bb__poller_open(struct bb__poller *poller);
void bb__poller_close(struct bb__poller *poller);

/* interest: a mask of enum bb__interest. BB_OK or BB_ESYSTEM (out of memory, or of epoll watches). */
int bb__poller_add(struct bb__poller *poller, int fd, uint32_t interest, void *tag);
int bb__poller_change(struct bb__poller *poller, int fd, uint32_t interest, void *tag);
void bb__poller_remove(struct bb__poller *poller, int fd);

/* Adds a listener that other lanes and processes wait for as well. An event wakes one lane that sleeps. */
int bb__poller_add_shared(struct bb__poller *poller, int fd, void *tag);

/* Adds the descriptor of another poller. It is edge-triggered: reported once each time that something new has
 * come there. */
int bb__poller_add_edge(struct bb__poller *poller, int fd, void *tag);

/* Fills *batch, whose events must all have been handled. timeout_ms: 0 does not wait, -1 waits without
 * limit. A signal ends the wait with an empty batch. BB_OK; BB_ESYSTEM: the batch is empty, and the next
 * wait will fail, too. */
int bb__poller_wait(struct bb__poller *poller, struct bb__batch *batch, int timeout_ms);

/* Makes an eventfd readable. Any thread, and signal handlers, because errno is kept. */
void bb__eventfd_raise(int fd);
void bb__eventfd_clear(int fd);

/* Moves the events with one of these interests to the front. */
void bb__batch_put_first(struct bb__batch *batch, uint32_t interest);

/* Removes a tag from the batch, because its object is about to be freed. */
void bb__batch_forget(struct bb__batch *batch, const void *tag);

static inline bool bb__batch_empty(const struct bb__batch *batch)
{
    return batch->next >= batch->count;
}

#endif
