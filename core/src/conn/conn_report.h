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
    pthread_mutex_t lock;     /* for `paces` */
    atomic_uint_fast64_t due; /* ms, when the next counted rejections are reported; 0: none are counted */
    struct bb__event_pace paces[BB_REASONS_END];
};

/* error: errno, or 0. Returns the response to send; status 0: none. */
struct bb__h1_error bb__conn_report(const struct bb__conn *conn, struct bb__conn_context *context,
                                    enum bb__reason reason, int error);

/* Returns when some thread of the worker has to call bb__conn_report_rest(): ms; UINT64_MAX: not at all,
 * because no rejections are counted. */
static inline uint64_t bb__conn_reports_due(const struct bb__conn_context *context)
{
    uint64_t due = atomic_load_explicit(&context->reports->due, memory_order_relaxed);
    return due > 0 ? due : UINT64_MAX;
}

/* Reports the counted rejections whose last report is a second old. last: also all others, because the
 * thread ends. If the ring of events is full, some rejections stay counted. */
void bb__conn_report_rest(struct bb__conn_context *context, bool last);

/* The same without `last`. Inline, because each request comes here. */
static inline void bb__conn_report_due(struct bb__conn_context *context)
{
    if (bb__conn_reports_due(context) <= context->now) bb__conn_report_rest(context, false);
}

/* Returns whether the client of a SERVED connection has closed the connection. If so, logs the fact, and the
 * caller closes the connection. */
bool bb__conn_check_client_gone(struct bb__conn *conn, struct bb__conn_context *context);

#endif
