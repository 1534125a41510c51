/* conn_admission.h: complete requests that no lane has time for: how many may wait for one, for how long, and
 * what those are told that may not (MaxQueue, QueueTimeout). Used by conn, set and I/O thread, where one of
 * these is set; knows no lane. */
#ifndef BB_CONN_ADMISSION_H
#define BB_CONN_ADMISSION_H

#include "conn/conn.h"
#include "system/scoreboard.h"
#include "system/shared_queue.h"

/* All that wait, whichever process they have come to. */
struct bb__conn_admission {
    const struct bb__shared_queue *shared_queue;
    const struct bb_scoreboard *scoreboard;
};

enum bb__conn_verdict {
    BB_ADMIT_QUEUE,  /* to the end of the queue */
    BB_ADMIT_HOLD,   /* it stays where it is; to be asked again */
    BB_ADMIT_REJECT, /* the queue is full */
};

/* SERVED, and context->head is its head: what is to become of it now. It waits since it was asked first. */
enum bb__conn_verdict bb__conn_admit(struct bb__conn *conn, struct bb__conn_context *context);

/* Whether the queue is full for one whose body is still to come, and whose head context->head is; or with so
 * many that are held beside it, as the shared queue had no room for them. */
bool bb__conn_queue_is_full(const struct bb__conn_context *context);
bool bb__conn_queue_is_full_with(const struct bb__conn_context *context, uint64_t held);

/* SERVED, and context->head is its head: whether it has waited for too long. */
bool bb__conn_is_overdue(struct bb__conn *conn, const struct bb__conn_context *context);

/* conn_reject.c: 503 with Retry-After. The connection stays, if all of the request is here and the client
 * does. */
enum bb__conn_next bb__conn_reject_queued(struct bb__conn *conn, struct bb__conn_context *context,
                                          enum bb__fault fault);

#endif
