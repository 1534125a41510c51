/* conn_report.c: see conn_report.h. */
#include "conn/conn_report.h"

/* The ring belongs to one thread, and the paces to all threads. So the sum of left out events moves from the
 * ring to the reports. before: the ring's sum before an event was added. */
static void move_sum(struct bb__reports *reports, struct bb__event_ring *ring, unsigned before)
{
    atomic_fetch_add_explicit(&reports->left_out, ring->left_out - before, memory_order_relaxed);
    ring->left_out = before;
}

struct bb__h1_error bb__conn_report(const struct bb__conn *conn, struct bb__conn_context *context,
                                    enum bb__reason reason, int error)
{
    struct bb__reports *reports = context->reports;
    const struct bb__reason_facts *facts = &bb__reasons[reason];
    struct bb_event event = {
        .status = facts->status, .error = error, .by_client = facts->by_client, .text = facts->text};
    unsigned before = context->events.left_out;
    memcpy(event.peer, conn->peer, sizeof event.peer);
    pthread_mutex_lock(&reports->lock);
    bb__event_add_paced(&context->events, &reports->paces[reason], context->now, &event);
    move_sum(reports, &context->events, before);
    pthread_mutex_unlock(&reports->lock);
    return (struct bb__h1_error){.status = facts->status, .reason = reason, .head_method = conn->head_method};
}

void bb__conn_report_rest(struct bb__conn_context *context, bool last)
{
    struct bb__reports *reports = context->reports;
    if (!bb__conn_has_unreported(context)) return;
    unsigned before = context->events.left_out;
    pthread_mutex_lock(&reports->lock);
    for (int reason = BB_REASON_BASE; reason < BB_REASONS_END; reason++) {
        if (last) reports->paces[reason].reported_at = 0;
        bb__event_tell_rest(&context->events, &reports->paces[reason], context->now);
    }
    move_sum(reports, &context->events, before);
    pthread_mutex_unlock(&reports->lock);
}

bool bb__conn_check_client_gone(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (!bb__sock_client_gone(conn->fd, context->settings->check_client_connection > 0)) return false;
    const struct bb__h1_error none = bb__conn_report(conn, context, BB_REASON_CLIENT_GONE, 0);
    if (context->log) bb__conn_log_rejected(conn, context, &none);
    return true;
}
