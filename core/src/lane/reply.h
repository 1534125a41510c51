/* reply.h: the response to the current request of a lane. reply.c sends it. The host is the program that
 * calls the core. lane.h includes this file. */
#ifndef BB_REPLY_H
#define BB_REPLY_H

#include "http/h1_reply.h"

#include <pthread.h>
#include <stdatomic.h>

struct bb_lane;

/* Shows which thread answers the current request. Each change is one compare-and-swap, so the lane and the
 * I/O thread cannot both answer.
 *
 *     OPEN -> SENT     the lane, before it sends the first bytes
 *     SENT -> ENDED    the lane, before it sends the last bytes
 *     OPEN -> ENDED    the lane, before it sends the whole response at once
 *     OPEN -> BY_IO    the I/O thread, at request_timeout
 *     SENT -> CUT      the I/O thread, at request_timeout
 *
 * BY_IO, CUT: the lane's response is dropped. ENDED: the response is complete, so the I/O thread does not end
 * the connection, even if the host is still busy. */
enum bb__response_state {
    BB_RESPONSE_OPEN,
    BB_RESPONSE_SENT,
    BB_RESPONSE_ENDED,
    BB_RESPONSE_BY_IO, /* the I/O thread answered with 504 */
    BB_RESPONSE_CUT, /* the I/O thread has shut the connection down: the client sees an incomplete response */
};

enum bb__held_bytes {
    BB_HOLDS_NOTHING,
    BB_HOLDS_UNSENT, /* bytes that the socket did not take */
    BB_HOLDS_PARTS,  /* small parts that wait in `staged`, or unsent bytes of which the socket takes some */
};

/* reply_gather.c: bytes that the I/O thread may send under the lock, unless `holds` is BB_HOLDS_NOTHING. Only
 * the lane sets `holds` if it is BB_HOLDS_NOTHING. */
struct bb__lane_gather {
    atomic_uint holds;    /* enum bb__held_bytes */
    pthread_mutex_t lock; /* guards staged, given and the connection's unsent bytes while `holds` is set */
    uint64_t since;       /* us, when the first of these parts was written; 0: there are none */
    uint64_t part_at;     /* us, when the host wrote its last part */
};

/* The reply under construction. */
struct bb__lane_reply {
    struct bb__h1_reply encoder;
    struct bb__buf staged;             /* the head and small parts, which are sent together */
    uint64_t write_progress;           /* ms, when the client last took bytes while bytes were pending */
    uint64_t body_length;              /* bytes of the body that bb_reply_write() has taken */
    atomic_uint_fast64_t waited;       /* ms that the lane has waited until the client took bytes */
    atomic_uint_fast64_t received_for; /* ms that the lane has waited for the request's body */
    atomic_uint_fast64_t
        taking;           /* 1 + bytes per second that the client took at the last wait; 0: no wait yet */
    atomic_bool is_error; /* the request counts as an error on the scoreboard */
    atomic_bool untimed;  /* lane_detach.c: no time limit applies any more */
    atomic_bool receives; /* request_read.c: the lane waits for the request's body now */
    bool has_received;    /* the lane has waited for the request's body */
    bool awaits_room;     /* the host is told to wait until the client has taken bytes */
    bool await_writable;  /* request_read.c: a wait for the body also ends if the socket takes bytes */
    atomic_bool waits;    /* the lane waits for the client now, and the I/O thread may end the wait */
    int64_t given;        /* bytes that the socket has taken */
    int64_t taken_before; /* bytes that the client had taken before the first wait: see reply_wait.c */
    bool sent;            /* bytes of the response may have reached the client */
    bool ended;           /* the end of the body is in `staged`, or was sent */
    bool detached;        /* lane_detach.c: the connection has left the lane; only its struct is here */
    int ended_as;         /* BB_OK, BB_ESHORT or BB_ECHUNKS */
    bool spools;          /* the client is slow: unsent bytes that do not fit in memory go to a file */
    uint64_t moments;     /* us, sum of the short waits for the client (wait_for_a_moment()) */
    struct bb__lane_gather gather;
    int failed; /* error of bb_reply_write(): bytes are missing, so no more may be sent */
};

/* Returns how many bytes of the body the response has so far, without its framing. taken: bytes that the host
 * has written. */
uint64_t bb__reply_other_length(const struct bb__h1_reply *encoder, uint64_t taken); /* in lane_log.c */
static inline uint64_t bb__reply_length(const struct bb__h1_reply *encoder, uint64_t taken)
{
    return encoder->framing == BB_FRAMING_LENGTH ? encoder->content_length - encoder->remaining
                                                 : bb__reply_other_length(encoder, taken);
}
static inline uint64_t bb__reply_body_length(const struct bb__lane_reply *reply)
{
    return bb__reply_length(&reply->encoder, reply->body_length);
}

/* ---- reply_wait.c ---- */

/* Notes that the client has just taken bytes. */
void bb__reply_note_progress(struct bb_lane *lane);

/* Sends pending bytes. BB_OK; BB_AGAIN: there are pending bytes, and the socket takes none; BB_EGONE: the
 * client is gone. */
int bb__reply_send_pending(struct bb_lane *lane);

/* Sends pending bytes. Returns BB_OK, or BB_EGONE if the client is gone or has taken nothing for
 * write_timeout. */
int bb__reply_flush_pending(struct bb_lane *lane);

/* Show the I/O thread that the lane waits for its client. rate: how fast the client takes bytes, in bytes per
 * second. */
void bb__reply_begin_to_wait(struct bb_lane *lane, uint64_t rate);
void bb__reply_end_to_wait(struct bb_lane *lane);

/* Blocks until the socket has taken all bytes that the connection keeps. Returns the codes of
 * bb_reply_wait(). */
int bb__reply_wait_until_sent(struct bb_lane *lane);

/* ---- reply_gather.c ---- */

/* Called after a small part was written to `staged`. True: the part stays there, and the caller sends
 * nothing. */
bool bb__reply_gathers(struct bb_lane *lane);

/* Lets the I/O thread send the bytes that the connection keeps, or gathered parts, until the host's next
 * call. Does nothing before the head of the response is sent, after an error, and if the rest is a file. */
void bb__reply_leave_unsent(struct bb_lane *lane);

/* Call this before `staged` or the unsent bytes are used, because the I/O thread may be sending them. */
void bb__reply_stop_gathering(struct bb_lane *lane);

/* For the I/O thread. Sends unsent bytes, and parts that have waited for BB_GATHER_TIME. now: us. Returns
 * what there is for the next look. */
enum bb__held_bytes bb__reply_send_gathered(struct bb_lane *lane, uint64_t now);

#endif
