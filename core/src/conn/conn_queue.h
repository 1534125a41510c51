/* conn_queue.h: complete requests that no lane has time for: how many may wait for one, for how long, and
 * what those are told that may not (MaxQueue, QueueTimeout). Used by conn, set and porter, where one of these
 * is set; knows no lane. */
#ifndef BB_CONN_QUEUE_H
#define BB_CONN_QUEUE_H

#include "conn/conn.h"
#include "system/board.h"
#include "system/relay.h"

/* All that wait, whichever process they have come to. */
struct bb__conn_queue {
    const struct bb__relay *relay;
    const struct bb_board *board;
};

enum bb__conn_turn {
    BB_TURN_GO,   /* to the end of the queue */
    BB_TURN_HOLD, /* it stays where it is; to be asked again */
    BB_TURN_AWAY, /* the queue is full */
};

/* SERVED, and context->head is its head: what is to become of it now. It waits since it was asked first. */
enum bb__conn_turn bb__conn_turn(struct bb__conn *conn, struct bb__conn_context *context);

/* Whether the queue is full for one whose body is still to come, and whose head context->head is; or with so
 * many that are held beside it, as the relay had no room for them. */
bool bb__conn_queue_is_full(const struct bb__conn_context *context);
bool bb__conn_queue_is_full_with(const struct bb__conn_context *context, uint64_t held);

/* SERVED, and context->head is its head: whether it has waited for too long. */
bool bb__conn_is_overdue(struct bb__conn *conn, const struct bb__conn_context *context);

/* conn_refuse.c: 503 with Retry-After. The connection stays, if all of the request is here and the client
 * does. */
enum bb__conn_next bb__conn_turn_away(struct bb__conn *conn, struct bb__conn_context *context,
                                      enum bb__fault fault);

#endif
