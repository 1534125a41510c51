/* porter_limit.c: what the porter does when the host has had a request for too long. The client gets its
 * answer, the host is told; what hangs there is not the core's to end. See porter_work.h. */
#include "access_log.h"
#include "h1_reply.h"
#include "porter_work.h"

#include <sys/socket.h>

/* ms, when it has had its time; UINT64_MAX: there is none, or it is over already. */
static uint64_t end_of(const struct bb__porter *porter, const struct bb_lane *lane)
{
    uint64_t limit = porter->worker->settings.request_timeout;
    return limit == 0 || lane->minded.overdue || !lane->minded.has_request
               ? UINT64_MAX
               : lane->minded.since / 1000 + limit;
}

uint64_t bb__porter_until(const struct bb__porter *porter, const struct bb_lane *lane)
{
    uint64_t end = end_of(porter, lane);
    return end < lane->minded.due ? end : lane->minded.due;
}

/* As much of it as the socket takes: it has taken nothing of this answer yet. */
static void answer(struct bb__porter *porter, struct bb__conn *conn)
{
    struct bb__conn_context *context = &porter->context;
    struct bb__buf out = {0};
    size_t sent;
    if (context->log) bb__conn_log_refusal(conn, context, 504);
    if (bb__h1_reply_error(&out, 504, conn->head_method, &context->date, context->settings->server_name) ==
        BB_OK)
        (void)bb__sock_send(conn->fd, bb__buf_bytes(&out), bb__buf_len(&out), &sent);
    bb__buf_free(&out);
    bb__sock_end_sending(conn->fd);
}

/* What was sent is not whole, and its client can tell. */
static void cut(struct bb__conn *conn)
{
    (void)shutdown(conn->fd, SHUT_RDWR);
}

static void tell(struct bb_worker *worker, const struct bb__conn *conn, bool answered)
{
    pthread_mutex_lock(&worker->lock);
    bb__news_add(&worker->news, answered ? 504 : 0, 0,
                 answered ? "the application has not answered within RequestTimeout"
                          : "the application has not finished its answer within RequestTimeout: cut",
                 conn->peer);
    atomic_store(&worker->has_news, true);
    pthread_mutex_unlock(&worker->lock);
    bb__event_raise(worker->alarm_fd);
    if (worker->tell_fd >= 0) (void)send(worker->tell_fd, &worker->tell_byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void bb__porter_limit(struct bb__porter *porter, struct bb_lane *lane)
{
    if (porter->context.now < end_of(porter, lane)) return;
    unsigned open = BB_ANSWER_OPEN;
    bool answers = atomic_compare_exchange_strong(&lane->answer, &open, BB_ANSWER_TAKEN);
    lane->minded.overdue = true;
    if (answers)
        answer(porter, lane->current);
    else
        cut(lane->current);
    tell(porter->worker, lane->current, answers);
}
