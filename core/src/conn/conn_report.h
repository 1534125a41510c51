/* conn_report.h: reports to the host's log why a request is rejected, or why a connection ends early. All
 * threads of a worker together report a reason at most once per second, because clients can cause rejections
 * as often as they like. Other rejections are counted, and the next report has their number. Used by conn and
 * all layers above it. Not for the access log, which has a line for each rejected request. */
#ifndef BB_CONN_REPORT_H
#define BB_CONN_REPORT_H

#include "conn/conn.h"
#include "http/h1_reply.h"

#include <pthread.h>
#include <stdatomic.h>

/* One per worker. */
struct bb__reports {
    pthread_mutex_t lock; /* for `paces` */
    atomic_uint left_out; /* sum over all paces */
    struct bb__event_pace paces[BB_REASONS_END];
};

/* error: errno, or 0. Returns the response to send; status 0: none. */
struct bb__h1_error bb__conn_report(const struct bb__conn *conn, struct bb__conn_context *context,
                                    enum bb__reason reason, int error);

/* Whether rejections were counted that no report has. Then some thread of the worker has to call
 * bb__conn_report_rest() within about a second. */
static inline bool bb__conn_has_unreported(const struct bb__conn_context *context)
{
    return atomic_load_explicit(&context->reports->left_out, memory_order_relaxed) > 0;
}

/* Reports the counted rejections whose last report is a second old. last: also all others, because the
 * thread ends. If the ring of events is full, some rejections stay counted. */
void bb__conn_report_rest(struct bb__conn_context *context, bool last);

/* Returns whether the client of a SERVED connection has closed the connection. If so, logs the fact, and the
 * caller closes the connection. */
bool bb__conn_check_client_gone(struct bb__conn *conn, struct bb__conn_context *context);

#endif
