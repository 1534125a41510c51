/* rb_time.c: requests whose time is limited: RequestTimeout, which lib's main thread has raised in the thread
 * of a request that is past its soft limit, and never in one behind it; and more time for a request that
 * asks.
 *
 * Thread#raise only puts an exception where the thread will find it, maybe later than the end of what it was
 * meant for. So the end of a request waits for who is about to raise, and takes what has not arrived yet. */
#include "rb_bontebok.h"

VALUE bbr_eTimeout;

static ID id_backtrace, id_raise;

/* ---- the thread that serves ---- */

static VALUE let_others_run(VALUE unused)
{
    rb_thread_schedule();
    rb_thread_check_ints();
    return Qnil;
}

/* What else comes now would have come a moment later between two requests. In a process that the application
 * has forked meanwhile nobody is about to raise anything. */
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

/* ---- another one ---- */

struct place {
    VALUE label, backtrace;
};

/* After the call that asks for the backtrace there may be no exchange any more. */
static struct place place_of(const struct bbr_exchange *exchange)
{
    VALUE thread = exchange->thread, label = bbr_env_label(exchange->env);
    return (struct place){label, rb_funcallv(thread, id_backtrace, 0, NULL)};
}

static VALUE raise_in(VALUE thread)
{
    VALUE error = rb_exc_new_cstr(bbr_eTimeout, "the request has taken longer than RequestTimeoutSoft");
    return rb_funcallv(thread, id_raise, 1, &error);
}

/* Whatever becomes of who raises: the end of the request waits for this. */
static VALUE has_raised(VALUE lane)
{
    ((struct bbr_lane *)lane)->raising = false;
    return Qnil;
}

static struct bbr_exchange *limited(const struct bbr_lane *lane)
{
    return lane->exchange && lane->exchange->limited ? lane->exchange : NULL;
}

/* time_out: raises RequestTimeout in the thread that serves, if its request is past request_timeout_soft;
 * once. Returns [the request's method and path, the thread's backtrace], or nil. Where Ruby may switch
 * threads the request may end, so it is looked at again; from then on its end waits. */
static VALUE lane_time_out(VALUE self)
{
    struct bbr_lane *lane = bbr_lane_of(self);
    struct bbr_exchange *exchange = limited(lane);
    if (!exchange || bbr_lane_is_child(lane)) return Qnil;
    struct place place = place_of(exchange);
    exchange = limited(lane);
    if (!exchange || !bb_lane_take_late(lane->core)) return Qnil;

    exchange->timed_out = lane->raising = true;
    (void)rb_ensure(raise_in, exchange->thread, has_raised, (VALUE)lane);
    RB_GC_GUARD(self);
    return rb_assoc_new(place.label, place.backtrace);
}

/* overdue: if its request has had its request_timeout, and this was not asked since: [the request's method
 * and path, the Thread, seconds since the request began], else nil. */
static VALUE lane_overdue(VALUE self)
{
    struct bbr_lane *lane = bbr_lane_of(self);
    const struct bbr_exchange *exchange = lane->exchange;
    uint64_t ms;
    if (!exchange || !exchange->request || NIL_P(exchange->env) || bbr_lane_is_child(lane) ||
        !bb_lane_take_overdue(lane->core, &ms))
        return Qnil;
    VALUE thread = exchange->thread, label = bbr_env_label(exchange->env);
    RB_GC_GUARD(self);
    return rb_ary_new_from_args(3, label, thread, DBL2NUM((double)ms / 1000));
}

/* ---- more time ---- */

#define EXTENSION_MAX (365 * 24 * 60 * 60.0)

/* extend_timeout(seconds): for the request that the calling thread serves. */
static VALUE lane_extend_timeout(VALUE self, VALUE seconds)
{
    const struct bbr_lane *lane = bbr_lane_of(self);
    double extension = NUM2DBL(seconds);
    const struct bbr_exchange *exchange = lane->exchange;
    if (!(extension >= 0 && extension <= EXTENSION_MAX))
        rb_raise(rb_eArgError, "no time to extend a request by: %+" PRIsVALUE, seconds);
    if (!exchange || !exchange->request || exchange->thread != rb_thread_current())
        rb_raise(rb_eThreadError, "only the thread that serves a request may extend its time");
    bb_lane_extend_time(lane->core, (uint64_t)(extension * 1000));
    return Qnil;
}

void bbr_init_time(VALUE bontebok, VALUE core)
{
    id_backtrace = rb_intern("backtrace");
    id_raise = rb_intern("raise");
    /* lib/bontebok/request_timeout.rb says what it is, and may have been there before. */
    bbr_eTimeout = rb_define_class_under(bontebok, "RequestTimeout", rb_eException);
    rb_gc_register_address(&bbr_eTimeout);

    VALUE class = rb_const_get(core, rb_intern("Lane"));
    rb_define_method(class, "time_out", lane_time_out, 0);
    rb_define_method(class, "overdue", lane_overdue, 0);
    rb_define_method(class, "extend_timeout", lane_extend_timeout, 1);
}
