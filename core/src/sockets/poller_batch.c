/* poller_batch.c: the events of one wait. See poller.h. */
#include "sockets/poller.h"

void bb__batch_put_first(struct bb__batch *batch, uint32_t interest)
{
    for (int i = batch->next, first = i; i < batch->count; i++) {
        struct bb__poller_event event = batch->events[i];
        if (!(event.events & interest)) continue;
        batch->events[i] = batch->events[first];
        batch->events[first++] = event;
    }
}

void bb__batch_forget(struct bb__batch *batch, const void *tag)
{
    for (int i = batch->next; i < batch->count; i++)
        if (batch->events[i].data.ptr == tag) batch->events[i].data.ptr = NULL;
}
