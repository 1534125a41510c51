/* lane_log.c: what a lane writes to the access log: the times of a request, the fields of its response, and
 * how the request ended. The functions are not called if there is no access log. conn_log.c is for rejected
 * requests. */
#include "lane/lane.h"
#include "system/access_log.h"

/* Bytes. A larger response buffer is freed after the request. */
#define RESPONSE_KEPT (16 * 1024)

void bb__lane_log_begin(struct bb_lane *lane)
{
    struct bb__access_log *log = lane->context.log;
    bb__buf_clear(&log->response);
    if (!log->format->wants_clock) return;
    log->handed_out = bb__clock_us();
    log->ready_at = lane->current->wait.ready_at > 0 ? lane->current->wait.ready_at : log->handed_out;
    lane->request.queue_time = bb__elapsed(log->handed_out, log->ready_at);
}

void bb__lane_log_head(struct bb_lane *lane)
{
    struct bb__access_log *log = lane->context.log;
    const struct bb__buf *head = &lane->reply.staged;
    if (log->format->response_count > 0)
        bb__log_keep(log->format, &log->response, bb__buf_bytes(head), bb__buf_len(head));
}

uint64_t bb__reply_other_length(const struct bb__h1_reply *encoder, uint64_t taken)
{
    switch (encoder->framing) {
    case BB_FRAMING_NONE:
        return 0;
    case BB_FRAMING_APP_CHUNKED:
    case BB_FRAMING_APP_DECODED:
        return bb__body_decoded(&encoder->app_body);
    default:
        return taken;
    }
}

/* Returns 0 if the real-time clock was set back. */
static uint64_t before(uint64_t real, uint64_t duration)
{
    return real > duration ? real - duration : 0;
}

static void set_times(const struct bb_lane *lane, struct bb__log_entry *entry)
{
    const struct bb__access_log *log = lane->context.log;
    uint64_t real = bb__clock_real_us();
    if (!log->format->wants_clock) {
        uint64_t taken = lane->handed_out > 0 ? bb__elapsed(bb__clock_ms(), lane->handed_out) : 0;
        entry->time = before(real, taken * 1000);
        return;
    }
    uint64_t now = bb__clock_us();
    entry->duration = bb__elapsed(now, log->ready_at);
    entry->time = before(real, entry->duration);
    entry->queued = lane->request.queue_time;
}

void bb__lane_log_idle(struct bb_lane *lane)
{
    struct bb__access_log *log = lane->context.log;
    uint64_t now = bb__clock_ms();
    if (!log->stuck || now >= log->due) bb__access_log_flush(log, now);
}

/* After a long request the line is written at once, because the next request may be as long and would delay
 * the line. */
void bb__lane_log_end(struct bb_lane *lane, bool aborted)
{
    const struct bb__lane_reply *reply = &lane->reply;
    struct bb__access_log *log = lane->context.log;
    bool answered = !aborted || reply->sent;
    uint64_t proxy = lane->request.proxy_time;
    if (!answered) bb__buf_clear(&log->response);
    struct bb__log_entry entry = {.head = &lane->request.head,
                                  .peer = lane->current->peer.address,
                                  .status = answered ? reply->encoder.status : 0,
                                  .body_length = answered ? bb__reply_body_length(reply) : BB_LOG_UNKNOWN,
                                  .duration = BB_LOG_UNKNOWN,
                                  .queued = BB_LOG_UNKNOWN,
                                  .proxy_queued = proxy > 0 ? proxy : BB_LOG_UNKNOWN,
                                  .response = &log->response,
                                  .port = lane->worker->listen.ports[lane->current->listener],
                                  .pid = log->pid,
                                  .connection = reply->encoder.keep_alive ? '+' : '-'};
    if (aborted) entry.connection = 'X';
    set_times(lane, &entry);
    uint64_t now = bb__clock_ms();
    bb__access_log_add(log, &entry, now);
    if (log->response.cap > RESPONSE_KEPT) bb__buf_free(&log->response);
    if (bb__elapsed(now, lane->handed_out) >= BB_LOG_PAUSE) bb__lane_log_idle(lane);
}

void bb__lane_log_flush(struct bb_lane *lane)
{
    bb__access_log_flush(lane->context.log, bb__clock_ms());
}

void bb__log_tell_losses(struct bb__conn_context *context, struct bb__event_pace *pace)
{
    struct bb__access_log *log = context->log;
    if (log->lost == 0) return;
    const struct bb_event event = {.error = log->error, .text = "access log: a line is lost"};
    if (context->counts.metrics) bb_metrics_count(context->counts.metrics, "log lines lost", log->lost);
    pace->left_out += log->lost - 1;
    bb__event_add_paced(&context->events, pace, context->now, &event);
    log->lost = 0;
}

/* Reports lost lines, at most once a second, with their number. */
void bb__lane_log_tick(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    bb__access_log_tick(context->log, context->now);
    bb__event_tell_rest(&context->events, &lane->paces.log_losses, context->now);
    bb__log_tell_losses(context, &lane->paces.log_losses);
}

/* Reports lost lines at once, because the lane ends. */
bool bb__lane_log_last(struct bb_lane *lane)
{
    struct bb__conn_context *context = &lane->context;
    struct bb__access_log *log = context->log;
    if (lane->drain.log_last == 0) {
        lane->drain.log_last = context->now;
        log->stuck = false; /* tries the target at once, and then again every BB_LOG_PAUSE ms */
    }
    bb__lane_log_idle(lane);
    if (log->len > 0 && bb__elapsed(context->now, lane->drain.log_last) < BB_LOG_LAST) return false;
    bb__access_log_drop(log);
    lane->paces.log_losses.reported_at = 0;
    bb__log_tell_losses(context, &lane->paces.log_losses);
    bb__event_tell_rest(&context->events, &lane->paces.log_losses, context->now);
    return true;
}
