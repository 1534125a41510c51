/* event_ring.h: events that the host should log, kept until the host asks for them. Each lane, the I/O thread
 * and the worker have a small ring. A ring is bounded, because a client must not be able to fill the memory
 * or the log. Not for the access log. */
#ifndef BB_EVENT_RING_H
#define BB_EVENT_RING_H

#include "bontebok.h"

#define BB_EVENT_RING_MAX 8

struct bb__event_ring {
    struct bb_event items[BB_EVENT_RING_MAX];
    unsigned first, count;
    unsigned left_out; /* the sum over all paces of this ring; if it is 0, bb__event_tell_rest() has nothing
                          to do */
};

/* Adds an event. text: static. peer: may be NULL. If the ring is full, the event is dropped. */
void bb__event_add(struct bb__event_ring *ring, int status, int error, const char *text, const char *peer);

/* Adds an event that was taken out of another ring. If this ring is full, the event is dropped. */
void bb__event_put(struct bb__event_ring *ring, const struct bb_event *event);

/* Limits events that a client can cause as often as it likes: one event of a kind is reported per second. The
 * others are counted, and the latest of the others is reported with the count. All zero: no event was
 * reported yet. */
struct bb__event_pace {
    uint64_t told; /* ms, when an event was last reported */
    unsigned left_out;
    struct bb_event latest; /* the latest event that was left out */
};

/* Adds the event if the last one of its kind is a second old, else counts it. now: bb__clock_ms(). */
void bb__event_add_paced(struct bb__event_ring *ring, struct bb__event_pace *pace, uint64_t now,
                         const struct bb_event *event);

/* Reports the events that were left out, if the last report is a second old. Callers repeat this call,
 * because the last event of a kind may have been left out. */
void bb__event_tell_rest(struct bb__event_ring *ring, struct bb__event_pace *pace, uint64_t now);

/* Takes the oldest event. Returns BB_OK, or BB_AGAIN if there is none. */
int bb__event_take(struct bb__event_ring *ring, struct bb_event *event);

#endif
