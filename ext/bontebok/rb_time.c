/* rb_time.c: the part of a request in which RequestTimeout may be raised. If a request exceeds
 * request_timeout_soft, the main thread of the process raises RequestTimeout in the thread of that request
 * (rb_lane_time.c). RequestTimeout is never raised after the end of that request.
 *
 * Thread#raise only queues an exception. Without a check, the thread could receive the exception after the
 * request. So at the end of a request, take_late() waits for the raising thread and receives an exception
 * that is still queued.
 */
#include "rb_bontebok.h"

static VALUE let_others_run(VALUE unused)
{
    rb_thread_schedule();
    rb_thread_check_ints();
    return Qnil;
}

/* Receives a RequestTimeout that is still queued. Any other exception that arrives here is handled like an
 * exception between two requests. A process that the application has forked has no other thread that could
 * raise. */
static void take_late(struct bbr_exchange *exchange)
{
    VALUE error;
    if (bbr_lane_is_child(exchange->lane)) return;
    do {
        error = bbr_attempt(let_others_run, Qnil);
        if (!NIL_P(error) && !RTEST(rb_obj_is_kind_of(error, bbr_eTimeout))) bbr_failed_late(exchange, error);
    } while (exchange->lane->raising || !NIL_P(error));
}

VALUE bbr_attempt_limited(VALUE (*function)(VALUE), struct bbr_exchange *exchange)
{
    exchange->timed_out = false;
    exchange->limited = true;
    VALUE error = bbr_attempt(function, (VALUE)exchange);
    exchange->limited = false;
    if (exchange->timed_out) take_late(exchange);
    return error;
}

bool bbr_time_stop_limited(struct bbr_exchange *exchange)
{
    bool was_limited = exchange->limited;
    exchange->limited = false;
    if (!was_limited || !exchange->timed_out || bbr_lane_is_child(exchange->lane)) return was_limited;
    do {
        (void)let_others_run(Qnil);
    } while (exchange->lane->raising);
    return was_limited;
}

void bbr_time_go_on_limited(struct bbr_exchange *exchange)
{
    exchange->limited = true;
    bb_lane_remind(exchange->lane->core);
}
