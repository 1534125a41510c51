/* poller.h: one set of descriptors that a lane waits for: epoll, level-triggered. Linux only; another system
 * would get another poller.c. Knows no connection: it gives back the tag that a descriptor was added with. */
#ifndef BB_POLLER_H
#define BB_POLLER_H

#include "system/sock.h"

#include <stdbool.h>
#include <stdint.h>

/* Few enough that not many are in hand when the lane turns to a long request, enough to make the call cheap.
 */
#define BB_BATCH 16

struct bb__poller {
    int fd;
};

/* What one wait found. `next` is the first that was not looked at yet. */
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

/* A listener that other lanes and processes wait for too: an event wakes one of them, one that sleeps. */
int bb__poller_add_shared(struct bb__poller *poller, int fd, void *tag);

/* Another poller's descriptor: an event tells once that something has come there. */
int bb__poller_add_edge(struct bb__poller *poller, int fd, void *tag);

/* Fills *batch, which must have been used up. timeout_ms: 0 looks only, -1 waits for ever. A signal ends the
 * wait with an empty batch. BB_OK; BB_ESYSTEM: the batch is empty, and the next wait will fail, too. */
int bb__poller_wait(struct bb__poller *poller, struct bb__batch *batch, int timeout_ms);

/* Makes an eventfd readable, and takes that back. The first is for any thread and for signal handlers: it
 * keeps errno. */
void bb__eventfd_raise(int fd);
void bb__eventfd_clear(int fd);

/* Puts those first that have one of these events. */
void bb__batch_put_first(struct bb__batch *batch, uint32_t interest);

/* Forgets what the batch still holds for a tag that is about to be freed. */
void bb__batch_forget(struct bb__batch *batch, const void *tag);

static inline bool bb__batch_empty(const struct bb__batch *batch)
{
    return batch->next >= batch->count;
}

#endif
