/* conn_body.h: the body of a request, until the request is complete. conn.c uses it. A body goes to the spool
 * before the host (the program that calls the core) gets the request, or the host reads the body itself
 * (unbuffered.h). */
#ifndef BB_CONN_BODY_H
#define BB_CONN_BODY_H

#include "conn/conn.h"

/* The request is complete, or its body is unbuffered. */
static inline enum bb__conn_next bb__conn_serve(struct bb__conn *conn, struct bb__conn_context *context)
{
    bb__timeout_clear(context->timeouts, &conn->timeout);
    conn->state = BB_CONN_SERVED;
    conn->served++;
    return BB_CONN_REQUEST;
}

/* Whether a client that has sent these bytes of a body in `time` ms is below min_body_rate. */
static inline bool bb__sends_too_little(uint64_t received, uint64_t time, const struct bb_settings *settings)
{
    return time > BB_RATE_AFTER && received * 1000 < settings->min_body_rate * time;
}

/* context->head is a complete head with a body. Serves the request if its body has come, or if it is
 * unbuffered. Otherwise moves the body bytes from `in` to the spool and waits for more. */
enum bb__conn_next bb__conn_begin_body(struct bb__conn *conn, struct bb__conn_context *context);

/* Reads bytes of the body in the state BODY. After BB_CONN_REQUEST the caller parses the head again. */
enum bb__conn_next bb__conn_receive_body(struct bb__conn *conn, struct bb__conn_context *context);

/* Returns whether body_timeout has expired, or the client sends less than min_body_rate. */
bool bb__conn_sends_too_slowly(const struct bb__conn *conn, const struct bb__conn_context *context);

#endif
