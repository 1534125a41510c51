/* event_ring.h: a small ring of events that wait until the host (the program that calls the core) logs them.
 * Each lane, the I/O thread and the worker have a ring. The size is fixed, so that a client cannot fill the
 * memory. Not for the access log. */
#ifndef BB_EVENT_RING_H
#define BB_EVENT_RING_H

#include "bontebok.h"

#define BB_EVENT_RING_MAX 8

/* ms between two reports of one kind of event */
#define BB_TELL_EVERY 1000

struct bb__event_ring {
    struct bb_event items[BB_EVENT_RING_MAX];
    unsigned first, count;
    unsigned left_out; /* sum of left_out over all paces of this ring; 0: bb__event_tell_rest() has nothing to
                          do */
};

/* Adds an event. text: static. peer: may be NULL. If the ring is full, the event is dropped. */
void bb__event_add(struct bb__event_ring *ring, int status, int error, const char *text, const char *peer);

/* Adds an event of another ring. If this ring is full, the event is dropped. */
void bb__event_put(struct bb__event_ring *ring, const struct bb_event *event);

/* Limits one kind of event to one report per second, because a client can cause events as often as it likes.
 * Events that are not reported are counted, and the last of them is kept for the next report. All zero: no
 * event was reported yet. */
struct bb__event_pace {
    uint64_t reported_at; /* ms, when an event was last reported */
    unsigned left_out;
    struct bb_event latest; /* the last event that was left out */
};

/* Adds the event if the last report of its kind is a second old. Otherwise counts it as left out. now:
 * bb__clock_ms(). */
void bb__event_add_paced(struct bb__event_ring *ring, struct bb__event_pace *pace, uint64_t now,
                         const struct bb_event *event);

/* If events were left out and the last report is a second old, reports the last of these events with their
 * number. Callers repeat this call, because no new event of the kind may come. */
void bb__event_tell_rest(struct bb__event_ring *ring, struct bb__event_pace *pace, uint64_t now);

/* Takes the oldest event. Returns BB_OK; BB_AGAIN: there is no event. */
int bb__event_take(struct bb__event_ring *ring, struct bb_event *event);

#endif
