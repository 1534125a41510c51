/* conn_admission.h: complete requests for which no lane has time: how many may wait, and for how long
 * (MaxQueue, QueueTimeout). Used by conn, connection sets and the I/O thread, if one of these options is set.
 * Knows no lane. */
#ifndef BB_CONN_ADMISSION_H
#define BB_CONN_ADMISSION_H

#include "conn/conn.h"
#include "system/scoreboard.h"
#include "system/shared_queue.h"

/* The queue of the requests of all processes, and the scoreboard that shows idle lanes. */
struct bb__conn_admission {
    const struct bb__shared_queue *shared_queue;
    const struct bb_scoreboard *scoreboard;
};

enum bb__conn_verdict {
    BB_ADMIT_QUEUE,  /* the request goes to the end of the queue */
    BB_ADMIT_HOLD,   /* the request stays where it is; ask again later */
    BB_ADMIT_REJECT, /* the queue is full */
};

/* Decides what to do with the request of a SERVED connection. context->head is its head, and
 * bb__conn_has_to_wait() was called. */
enum bb__conn_verdict bb__conn_admit(struct bb__conn *conn, const struct bb__conn_context *context);

/* Returns whether the queue is full for a request whose head is context->head, and whose body is still to
 * come. */
bool bb__conn_queue_is_full(const struct bb__conn_context *context);

/* Returns whether the queue is full. Also counts `held` requests for which the shared queue had no room. */
bool bb__conn_queue_is_full_with(const struct bb__conn_context *context, uint64_t held);

/* SERVED, and context->head is its head: returns whether the request is past queue_timeout. False for a
 * health check. */
bool bb__conn_is_overdue(const struct bb__conn *conn, const struct bb__conn_context *context);

/* A health check that is past queue_timeout counts as a new request from now on. So it can be held
 * (BB_ADMIT_HOLD), and the requests behind it are rejected in time. Other requests stay as they are. */
void bb__conn_restart_health_check(struct bb__conn *conn, const struct bb__conn_context *context);

/* In conn_reject.c: sends 503 with Retry-After. The connection is kept alive if the whole request is here
 * and the client wants it. */
enum bb__conn_next bb__conn_reject_queued(struct bb__conn *conn, struct bb__conn_context *context,
                                          enum bb__fault fault);

#endif
