/* timeouts.h: what is to happen when. Every kind of deadline has one duration, so the deadlines of a kind, in
 * the order in which they were set, are in the order in which they are due: setting, moving and taking one
 * away is O(1), and ten thousand idle connections cost a request nothing. */
#ifndef BB_TIMEOUTS_H
#define BB_TIMEOUTS_H

#include <stdint.h>

enum bb__timeout_kind {
    BB_TIMEOUT_NONE,
    BB_TIMEOUT_FRESH,     /* accepted, no byte yet */
    BB_TIMEOUT_HEADER,    /* since the first byte of a request */
    BB_TIMEOUT_BODY,      /* look whether the body makes progress */
    BB_TIMEOUT_WRITE,     /* look whether the client takes its answer */
    BB_TIMEOUT_KEEPALIVE, /* idle between requests */
    BB_TIMEOUT_LINGER,    /* answered and half closed, the client may still be reading */
    BB_TIMEOUT_KINDS,
};

/* Lives in what it is about; all zero is "not set". */
struct bb__timeout {
    struct bb__timeout *previous, *next;
    uint64_t since, due;
    uint8_t kind;
};

struct bb__timeouts {
    struct {
        struct bb__timeout *first, *last;
        uint64_t duration; /* ms; 0: deadlines of this kind never come */
    } kinds[BB_TIMEOUT_KINDS];
};

/* Sets, or sets anew, `deadline` to `now` + the duration of the kind. It must outlive its place in the list.
 */
void bb__timeout_set(struct bb__timeouts *timeouts, struct bb__timeout *timeout, enum bb__timeout_kind kind,
                     uint64_t now);

/* Takes it away if it is set. */
void bb__timeout_clear(struct bb__timeouts *timeouts, struct bb__timeout *timeout);

/* Takes away and returns one that is due, or NULL. */
struct bb__timeout *bb__timeout_take_due(struct bb__timeouts *timeouts, uint64_t now);

/* The one of a kind that was set first, or NULL; it stays. */
struct bb__timeout *bb__timeout_oldest(const struct bb__timeouts *timeouts, enum bb__timeout_kind kind);

/* Gives a kind a shorter duration; those already set are due that long after `now`, or after they were
 * set if that was later, at the latest. */
void bb__timeout_shorten(struct bb__timeouts *timeouts, enum bb__timeout_kind kind, uint64_t duration,
                         uint64_t now);

/* Puts them off by so many ms, except for those of idle connections, which may be closed at any time. */
void bb__timeout_put_off(struct bb__timeouts *timeouts, uint64_t time);

/* For how many milliseconds from `now` nobody has to look: 0 when a deadline is due, -1 when there is none.
 * While a client is in the middle of a request or a response, at most a second: if the process is stopped
 * meanwhile, the wait shows for how long, but for that second. Fits poll and epoll_wait. */
int bb__timeout_wait(const struct bb__timeouts *timeouts, uint64_t now);

#endif
