/* rb_lane_time.c: the methods of Lane for the time limits of its current request. lib (the server's Ruby
 * code) calls time_out and overdue. The application calls extend_timeout. rb_time.c has the rules for raising
 * RequestTimeout. */
#include "rb_bontebok.h"

static ID id_backtrace, id_raise;

struct place {
    VALUE label, backtrace;
};

/* Ruby may switch threads in the call of `backtrace`. The exchange may end during that call, so it is not
 * read after the call. */
static struct place place_of(const struct bbr_exchange *exchange)
{
    VALUE thread = exchange->thread, label = bbr_env_label(exchange->env);
    return (struct place){label, rb_funcallv(thread, id_backtrace, 0, NULL)};
}

static VALUE raise_in(VALUE thread)
{
    VALUE error = rb_exc_new_cstr(bbr_eTimeout, "the request has taken longer than request_timeout_soft");
    return rb_funcallv(thread, id_raise, 1, &error);
}

/* Runs even if the raising thread is killed, because the request cannot end while `raising` is true. */
static VALUE has_raised(VALUE lane)
{
    ((struct bbr_lane *)lane)->raising = false;
    return Qnil;
}

static struct bbr_exchange *limited(const struct bbr_lane *lane)
{
    return lane->exchange && lane->exchange->limited ? lane->exchange : NULL;
}

/* time_out: if the lane's request is past request_timeout_soft, raises RequestTimeout once in the thread of
 * that request. Returns [the request's method and path, the thread's backtrace], or nil. Ruby may switch
 * threads in place_of(), and the request may end during that call. So the exchange is checked again. While
 * `raising` is true the request cannot end. */
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

/* overdue: if the lane's request has exceeded request_timeout, returns [the request's method and path, the
 * Thread, seconds since the request began]. Otherwise returns nil, also for a request that an earlier call
 * has returned. */
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

/* extend_timeout(seconds): gives more time to the request of the calling thread. */
static VALUE lane_extend_timeout(VALUE self, VALUE seconds)
{
    const struct bbr_lane *lane = bbr_lane_of(self);
    double extension = NUM2DBL(seconds);
    const struct bbr_exchange *exchange = lane->exchange;
    if (!(extension >= 0 && extension <= EXTENSION_MAX))
        rb_raise(rb_eArgError, "the extension must be from 0 to 31536000 seconds, not %+" PRIsVALUE, seconds);
    if (!exchange || !exchange->request || exchange->thread != rb_thread_current())
        rb_raise(rb_eThreadError, "only the thread that serves a request may extend its time");
    bb_lane_extend_time(lane->core, (uint64_t)(extension * 1000));
    return Qnil;
}

void bbr_init_lane_time(VALUE core)
{
    id_backtrace = rb_intern("backtrace");
    id_raise = rb_intern("raise");

    VALUE class = rb_const_get(core, rb_intern("Lane"));
    rb_define_method(class, "time_out", lane_time_out, 0);
    rb_define_method(class, "overdue", lane_overdue, 0);
    rb_define_method(class, "extend_timeout", lane_extend_timeout, 1);
}
