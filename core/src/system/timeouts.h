/* timeouts.h: the timeouts of a set of connections. All timeouts of one kind have the same duration, so the
 * timeout that was set first is due first. Setting and clearing a timeout is O(1), so ten thousand idle
 * connections do not slow a request down. Used by conn, connection sets and the I/O thread. */
#ifndef BB_TIMEOUTS_H
#define BB_TIMEOUTS_H

#include <stdint.h>

enum bb__timeout_kind {
    BB_TIMEOUT_NONE,
    BB_TIMEOUT_FRESH,     /* accepted, no byte yet */
    BB_TIMEOUT_HEADER,    /* since the first byte of a request */
    BB_TIMEOUT_BODY,      /* time to check whether the body makes progress */
    BB_TIMEOUT_WRITE,     /* time to check whether the client takes its response */
    BB_TIMEOUT_KEEPALIVE, /* idle between requests */
    BB_TIMEOUT_LINGER,    /* response sent and half closed; the client may still be reading */
    BB_TIMEOUT_DISK,      /* time to check whether the disk has read the next bytes of a file */
    BB_TIMEOUT_KINDS,
};

/* A member of the struct that has the timeout. All zero: the timeout is not set. */
struct bb__timeout {
    struct bb__timeout *previous, *next;
    uint64_t since, due; /* ms; due is UINT64_MAX: never */
    uint8_t kind;
};

struct bb__timeouts {
    struct {
        struct bb__timeout *first, *last;
        uint64_t duration; /* ms; 0: timeouts of this kind are never due */
        unsigned count;    /* timeouts of this kind that are set */
    } kinds[BB_TIMEOUT_KINDS];
};

/* Sets the timeout to `now` (ms) plus the duration of the kind, also if the timeout is set already. The
 * timeout must exist until it is taken or cleared. */
void bb__timeout_set(struct bb__timeouts *timeouts, struct bb__timeout *timeout, enum bb__timeout_kind kind,
                     uint64_t now);

/* Clears the timeout if it is set. */
void bb__timeout_clear(struct bb__timeouts *timeouts, struct bb__timeout *timeout);

/* Clears and returns a timeout that is due, or returns NULL. */
struct bb__timeout *bb__timeout_take_due(struct bb__timeouts *timeouts, uint64_t now);

/* Returns the timeout of this kind that was set first, or NULL. The timeout stays set. */
struct bb__timeout *bb__timeout_oldest(const struct bb__timeouts *timeouts, enum bb__timeout_kind kind);

/* Shortens the duration of a kind. A timeout of this kind that is already set becomes due at most `duration`
 * ms after `now`. If `since` of the timeout is later than `now`, the `duration` begins at `since`. */
void bb__timeout_shorten(struct bb__timeouts *timeouts, enum bb__timeout_kind kind, uint64_t duration,
                         uint64_t now);

/* Does not count the time between `from` and `now` (ms) for any timeout except BB_TIMEOUT_KEEPALIVE, because
 * idle connections may be closed at any time. The timeouts keep their order. */
void bb__timeout_put_off(struct bb__timeouts *timeouts, uint64_t from, uint64_t now);

/* Returns the ms that poll or epoll_wait may wait. 0: a timeout is due; -1: no timeout is set. At most 1000
 * while a client is in the middle of a request or a response. If the process is frozen (SIGSTOP), the caller
 * notices the freeze only because the wait ends late. So at most one second of the freeze goes unnoticed. */
int bb__timeout_wait(const struct bb__timeouts *timeouts, uint64_t now);

#endif
