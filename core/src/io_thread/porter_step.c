/* porter_step.c: what each part of the porter does with a connection, with a set, and with what it has to
 * tell. See porter_work.h. */
#include "io_thread/porter_work.h"
#include "system/access_log.h"

void bb__porter_settle(struct bb__porter *porter, struct bb_lane *lane, struct bb__conn *conn,
                       enum bb__conn_next next)
{
    if (bb__set_settle(&lane->set, &porter->context, conn, next))
        bb__set_pass(&lane->set, &porter->context, conn, &porter->worker->relay);
}

/* The lane sleeps until the porter tells it. It cannot be freed before: the porter has its lock. */
void bb__porter_let_go(struct bb_lane *lane)
{
    if (bb__own_hold(&lane->own)) return;
    bb__own_give(&lane->own);
    bb__event_raise(lane->intake.wake_fd);
}

/* ---- telling ---- */

void bb__porter_note_trouble(struct bb__porter *porter, int error)
{
    struct bb__conn_context *context = &porter->context;
    const struct bb_news news = {.error = error, .text = "epoll: clients of a busy thread may have to wait"};
    bb__news_add_paced(&context->news, &porter->trouble, context->now, &news);
}

static void mind_log(struct bb__porter *porter)
{
    struct bb__conn_context *context = &porter->context;
    struct bb__access_log *log = context->log;
    if (log->len > 0 && (!log->stuck || context->now >= log->due)) bb__access_log_flush(log, context->now);
    bb__log_tell_losses(context, &porter->log_losses);
    bb__news_tell_rest(&context->news, &porter->log_losses, context->now);
}

void bb__porter_tell(struct bb__porter *porter)
{
    struct bb__conn_context *context = &porter->context;
    if (context->log) mind_log(porter);
    for (int fault = 0; fault < BB_FAULTS; fault++)
        bb__news_tell_rest(&context->news, &context->fault_news[fault], context->now);
    bb__news_tell_rest(&context->news, &porter->lost, context->now);
    bb__news_tell_rest(&context->news, &porter->trouble, context->now);
    bb__news_tell_rest(&context->news, &porter->slow, context->now);
    if (context->news.count > 0) bb__worker_give_news(porter->worker, &context->news);
}
