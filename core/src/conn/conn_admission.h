/* conn_admission.h: limits how many complete requests wait for a lane, and for how long (max_queue,
 * queue_timeout). Used by conn, connection sets (the connections of one lane) and the I/O thread, if one of
 * these options is set, or a path for probes (conn_probe.h). Does not choose the lane. */
#ifndef BB_CONN_ADMISSION_H
#define BB_CONN_ADMISSION_H

#include "conn/conn.h"
#include "system/scoreboard.h"
#include "system/shared_queue.h"

/* shared_queue: the waiting requests of all processes. scoreboard: shows which lanes are idle. */
struct bb__conn_admission {
    const struct bb__shared_queue *shared_queue;
    const struct bb_scoreboard *scoreboard;
};

enum bb__conn_verdict {
    BB_ADMIT_QUEUE,  /* the request goes to the end of the queue */
    BB_ADMIT_HOLD,   /* the connection stays in its set; call bb__conn_admit() again later */
    BB_ADMIT_REJECT, /* the queue is full */
};

/* Decides what to do with a request that has to wait. The connection is SERVED, context->head is its head,
 * and bb__conn_has_to_wait() was called. */
enum bb__conn_verdict bb__conn_admit(struct bb__conn *conn, const struct bb__conn_context *context);

/* Returns whether the queue is full. context->head is the head of a new request, and its body is incomplete.
 * False for a health check. */
bool bb__conn_queue_is_full(const struct bb__conn_context *context);

/* Returns whether the queue is full. Also counts `held` requests for which the shared queue had no room. */
bool bb__conn_queue_is_full_with(const struct bb__conn_context *context, uint64_t held);

/* Returns whether the request of a SERVED connection has waited for at least queue_timeout. context->head
 * must be the head of this request. False for a health check. */
bool bb__conn_is_overdue(const struct bb__conn *conn, const struct bb__conn_context *context);

/* If a health check has waited for at least queue_timeout, its wait begins again. Then bb__conn_admit() can
 * hold the health check, and requests after it in the queue are rejected in time. Has no effect on other
 * requests. */
void bb__conn_restart_health_check(struct bb__conn *conn, const struct bb__conn_context *context);

/* In conn_reject.c: responds to the complete request of a SERVED connection, whose head is context->head.
 * Keeps the connection alive if the client wants keep-alive: response->keep_alive and minor_version are not
 * used. */
enum bb__conn_next bb__conn_reply(struct bb__conn *conn, struct bb__conn_context *context,
                                  const struct bb__h1_error *response);

/* In conn_reject.c: sends 503 with Retry-After. Keeps the connection alive if the whole request has come and
 * the client wants keep-alive. */
enum bb__conn_next bb__conn_reject_queued(struct bb__conn *conn, struct bb__conn_context *context,
                                          enum bb__reason reason);

#endif
