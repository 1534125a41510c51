/* io_step.c: functions that the other files of the I/O thread use. See io_work.h. */
#include "io_thread/io_work.h"
#include "system/access_log.h"

void bb__io_settle(struct bb__io_thread *io, struct bb_lane *lane, struct bb__conn *conn,
                   enum bb__conn_next next)
{
    if (bb__conn_set_settle(&lane->set, &io->context, conn, next))
        bb__conn_set_pass(&lane->set, &io->context, conn, &io->worker->shared.queue);
}

/* A lane that wants its set of connections back sleeps until the I/O thread wakes it. The I/O thread holds
 * link.lock, so the lane cannot be freed before the wake-up. */
void bb__io_let_go(struct bb_lane *lane)
{
    if (bb__owner_park(&lane->owner)) return;
    bb__owner_give(&lane->owner);
    bb__wakeup_raise(&lane->intake.wakeup);
}

void bb__io_judge_idle(struct bb__io_thread *io, uint64_t *since, bool waiting)
{
    struct bb_worker *worker = io->worker;
    uint64_t now = io->context.now;
    if (!waiting) {
        *since = 0;
    } else if (*since == 0) {
        *since = now;
        bb__scoreboard_doubt(worker->scoreboard, worker->pid);
    } else if (bb__elapsed(now, *since) >= BB_PROMPT) {
        *since = 0;
        bb__scoreboard_blame(worker->scoreboard, worker->pid);
    }
}

/* ---- events for the host ---- */

void bb__io_note_trouble(struct bb__io_thread *io, int error)
{
    struct bb__conn_context *context = &io->context;
    const struct bb_event event = {.error = error,
                                   .text = "the poller failed: clients of a busy thread may have to wait"};
    bb__event_add_paced(&context->events, &io->trouble, context->now, &event);
}

static void check_log(struct bb__io_thread *io)
{
    struct bb__conn_context *context = &io->context;
    struct bb__access_log *log = context->log;
    if (log->len > 0 && (!log->stuck || context->now >= log->due)) bb__access_log_flush(log, context->now);
    bb__log_tell_losses(context, &io->log_losses);
    bb__event_tell_rest(&context->events, &io->log_losses, context->now);
}

void bb__io_tell(struct bb__io_thread *io)
{
    struct bb__conn_context *context = &io->context;
    if (context->log) check_log(io);
    bb__conn_report_due(context);
    bb__event_tell_rest(&context->events, &io->lost, context->now);
    bb__event_tell_rest(&context->events, &io->trouble, context->now);
    bb__event_tell_rest(&context->events, &io->slow, context->now);
    if (context->events.count > 0) bb__worker_give_events(io->worker, &context->events);
}
