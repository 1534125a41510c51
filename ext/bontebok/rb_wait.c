/* rb_wait.c: all waits. A thread waits without the GVL. */
#include "rb_bontebok.h"

#include <ruby/io.h>
#include <ruby/thread.h>
#ifdef HAVE_RB_FIBER_SCHEDULER_CURRENT
#include <ruby/fiber/scheduler.h>
#endif

struct wait {
    struct bb_lane *core;
    int (*call)(struct bb_lane *core);
    int code;
};

static void *without_gvl(void *argument)
{
    struct wait *wait = argument;
    wait->code = wait->call(wait->core);
    return NULL;
}

static void wake(void *core)
{
    bb_lane_wake(core);
}

int bbr_wait(struct bbr_lane *lane, int (*call)(struct bb_lane *core))
{
    struct wait wait = {.core = lane->core, .call = call};
    rb_thread_call_without_gvl(without_gvl, &wait, wake, wait.core);
    return wait.code;
}

static bool has_scheduler(void)
{
#ifdef HAVE_RB_FIBER_SCHEDULER_CURRENT
    return !NIL_P(rb_fiber_scheduler_current());
#else
    return false;
#endif
}

static VALUE io_for(int fd)
{
    VALUE options = rb_hash_new();
    rb_hash_aset(options, ID2SYM(rb_intern("autoclose")), Qfalse);
    VALUE arguments[] = {INT2NUM(fd), rb_str_new_cstr("r+"), options};
    return rb_funcallv_kw(rb_cIO, rb_intern("for_fd"), 3, arguments, RB_PASS_KEYWORDS);
}

void bbr_wait_for_descriptor(int fd, int events, void *(*wait)(void *), void *argument)
{
    if (wait && !has_scheduler()) {
        rb_thread_call_without_gvl(wait, argument, RUBY_UBF_IO, NULL);
        return;
    }
    VALUE io = io_for(fd);
    rb_io_wait(io, INT2NUM(events), INT2FIX(1));
    RB_GC_GUARD(io); /* after the wait, rb_io_wait() reads the memory of the IO */
}
