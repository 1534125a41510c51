/* conn_report.c: see conn_report.h. */
#include "conn/conn_report.h"

/* Notes when the pace has something to report. If it is due already, the ring was full. */
static void note_due(struct bb__reports *reports, const struct bb__event_pace *pace, uint64_t now)
{
    if (pace->left_out == 0) return;
    uint64_t known = atomic_load_explicit(&reports->due, memory_order_relaxed);
    uint64_t due = pace->reported_at + BB_TELL_EVERY;
    if (due <= now) due = now + BB_TELL_EVERY;
    if (known == 0 || due < known) atomic_store_explicit(&reports->due, due, memory_order_relaxed);
}

struct bb__h1_error bb__conn_report(const struct bb__conn *conn, struct bb__conn_context *context,
                                    enum bb__reason reason, int error)
{
    struct bb__reports *reports = context->reports;
    struct bb__event_pace *pace = &reports->paces[reason];
    const struct bb__reason_facts *facts = &bb__reasons[reason];
    struct bb_event event = {
        .status = facts->status, .error = error, .by_client = facts->by_client, .text = facts->text};
    unsigned own = context->events.left_out; /* of the thread's own paces */
    memcpy(event.peer, conn->peer.address, sizeof event.peer);
    pthread_mutex_lock(&reports->lock);
    bb__event_add_paced(&context->events, pace, context->now, &event);
    note_due(reports, pace, context->now);
    pthread_mutex_unlock(&reports->lock);
    context->events.left_out = own;
    if (facts->status > 0) bb__count_rejection(&context->counts, facts->name);
    return (struct bb__h1_error){.status = facts->status, .reason = reason, .head_method = conn->head_method};
}

void bb__conn_report_rest(struct bb__conn_context *context, bool last)
{
    struct bb__reports *reports = context->reports;
    uint64_t due = bb__conn_reports_due(context);
    if (due == UINT64_MAX || (!last && context->now < due)) return;
    unsigned own = context->events.left_out;
    pthread_mutex_lock(&reports->lock);
    atomic_store_explicit(&reports->due, 0, memory_order_relaxed);
    for (int reason = BB_REASON_BASE; reason < BB_REASONS_END; reason++) {
        struct bb__event_pace *pace = &reports->paces[reason];
        if (last) pace->reported_at = 0;
        bb__event_tell_rest(&context->events, pace, context->now);
        note_due(reports, pace, context->now);
    }
    pthread_mutex_unlock(&reports->lock);
    context->events.left_out = own;
}

bool bb__conn_check_client_gone(struct bb__conn *conn, struct bb__conn_context *context)
{
    if (!bb__sock_client_gone(conn->fd, context->settings->check_client_connection > 0)) return false;
    const struct bb__h1_error none = bb__conn_report(conn, context, BB_REASON_CLIENT_GONE, 0);
    if (context->log) bb__conn_log_rejected(conn, context, &none);
    return true;
}
