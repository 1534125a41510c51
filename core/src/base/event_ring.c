/* event_ring.c: see event_ring.h. */
#include "base/event_ring.h"

#include <string.h>

static bool push(struct bb__event_ring *ring, const struct bb_event *event)
{
    if (ring->count == BB_EVENT_RING_MAX) return false;
    ring->items[(ring->first + ring->count++) % BB_EVENT_RING_MAX] = *event;
    return true;
}

void bb__event_add(struct bb__event_ring *ring, int status, int error, const char *text, const char *peer)
{
    struct bb_event event = {.status = status, .error = error, .text = text};
    if (peer) strncpy(event.peer, peer, sizeof event.peer - 1);
    (void)push(ring, &event);
}

void bb__event_put(struct bb__event_ring *ring, const struct bb_event *event)
{
    (void)push(ring, event);
}

/* Clients can cause as many kinds of events as there are reasons. Events of clients leave some places free
 * for the server's own problems. */
#define PLACES_OF_SERVER 2

static bool has_place(const struct bb__event_ring *ring, const struct bb_event *event)
{
    return ring->count < BB_EVENT_RING_MAX - (event->by_client ? PLACES_OF_SERVER : 0);
}

/* reported_at may be later than `now`, because several threads may share the pace. */
static bool is_too_soon(const struct bb__event_pace *pace, uint64_t now)
{
    return pace->reported_at > 0 && now < pace->reported_at + BB_TELL_EVERY;
}

void bb__event_add_paced(struct bb__event_ring *ring, struct bb__event_pace *pace, uint64_t now,
                         const struct bb_event *event)
{
    struct bb_event reported = *event;
    reported.left_out = pace->left_out;
    if (is_too_soon(pace, now) || !has_place(ring, event)) {
        pace->left_out++;
        ring->left_out++;
        pace->latest = *event;
    } else {
        (void)push(ring, &reported);
        ring->left_out -= pace->left_out;
        *pace = (struct bb__event_pace){.reported_at = now};
    }
}

void bb__event_tell_rest(struct bb__event_ring *ring, struct bb__event_pace *pace, uint64_t now)
{
    if (pace->left_out == 0 || is_too_soon(pace, now)) return;
    pace->left_out--; /* `latest` is reported now, so it does not count as left out */
    ring->left_out--;
    bb__event_add_paced(ring, pace, now, &pace->latest);
}

int bb__event_take(struct bb__event_ring *ring, struct bb_event *event)
{
    if (ring->count == 0) return BB_AGAIN;
    *event = ring->items[ring->first];
    ring->first = (ring->first + 1) % BB_EVENT_RING_MAX;
    ring->count--;
    return BB_OK;
}
