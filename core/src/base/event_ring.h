/* event_ring.h: what happened that the host should log, until it asks: a small ring per lane. Bounded,
 * because a client must not be able to fill memory or the log. */
#ifndef BB_EVENT_RING_H
#define BB_EVENT_RING_H

#include "bontebok.h"

#define BB_EVENT_RING_MAX 8

struct bb__event_ring {
    struct bb_event items[BB_EVENT_RING_MAX];
    unsigned first, count;
    unsigned left_out; /* by all paces that tell here: 0, and there is no rest to tell of */
};

/* text: static. peer: may be NULL. When the ring is full the new one is left out. */
void bb__event_add(struct bb__event_ring *ring, int status, int error, const char *text, const char *peer);

/* What has come from another ring. */
void bb__event_put(struct bb__event_ring *ring, const struct bb_event *event);

/* For what a client can bring about as often as it likes: one of its kind a second is told, the others are
 * counted, and the latest of them tells of the rest. All zero: none was told yet. */
struct bb__event_pace {
    uint64_t told; /* ms */
    unsigned left_out;
    struct bb_event latest; /* of those that were left out */
};

/* bb__event_add() when it is time for one, else counts it. now: bb__clock_ms(). */
void bb__event_add_paced(struct bb__event_ring *ring, struct bb__event_pace *pace, uint64_t now,
                         const struct bb_event *event);

/* Tells of those that were left out, when it is time: the flood may be over. */
void bb__event_tell_rest(struct bb__event_ring *ring, struct bb__event_pace *pace, uint64_t now);

/* BB_OK with the oldest, or BB_AGAIN. */
int bb__event_take(struct bb__event_ring *ring, struct bb_event *event);

#endif
