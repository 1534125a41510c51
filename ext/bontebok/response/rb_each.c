/* rb_each.c: sends the parts that a body's `each` yields. The block of `each` gets the parts. The application
 * may keep the block longer than the response lasts, so the block has an object of its own. The end of the
 * response detaches this object, and a later call of the block raises IOError.
 *
 * Any thread may call the block while `each` runs, for example while the serving thread sleeps in `each`. The
 * GVL lets one thread at a time call the core. Only the serving thread waits in the core, without the GVL.
 * Another thread waits elsewhere, for the client's socket. The lock exists when a thread has waited, or when
 * a second thread has come: it keeps the bytes of a part together. */
#include "rb_bontebok.h"

#include <ruby/io.h>
#include <unistd.h>

struct each {
    struct bbr_exchange *exchange; /* NULL: detached. In a forked process it may point nowhere */
    VALUE thread;                  /* the serving thread */
    VALUE lock;                    /* nil, or a Mutex */
    pid_t pid;
    bool cut; /* a part was not sent completely, so the response can only be reset */
};

static ID id_each;

static void each_mark(void *data)
{
    struct each *each = data;
    rb_gc_mark_movable(each->thread);
    rb_gc_mark_movable(each->lock);
}

static void each_compact(void *data)
{
    struct each *each = data;
    each->thread = rb_gc_location(each->thread);
    each->lock = rb_gc_location(each->lock);
}

static size_t each_size(const void *data)
{
    return sizeof(struct each);
}

static const rb_data_type_t each_type = {
    .wrap_struct_name = "Bontebok::Core::Each",
    .function = {.dmark = each_mark,
                 .dfree = RUBY_DEFAULT_FREE,
                 .dsize = each_size,
                 .dcompact = each_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

/* The application has no reference to this object, so its type is known. */
static struct each *each_of(VALUE self)
{
    return RTYPEDDATA_DATA(self);
}

/* ---- one part ---- */

struct put {
    VALUE self, part;
    size_t sent;
    bool done;
};

/* After each wait, the response may have ended. A process that another thread has forked has no response. */
static struct bbr_exchange *exchange_of(const struct each *each)
{
    bool serves = each->thread == rb_thread_current();
    if (!each->exchange || (!serves && each->pid != getpid()))
        rb_raise(rb_eIOError, "the response has ended");
    return each->exchange;
}

NORETURN(static void raise_cut(struct bbr_exchange *exchange));
static void raise_cut(struct bbr_exchange *exchange)
{
    if (exchange->gone) bbr_reply_fail(exchange, BB_EGONE);
    rb_raise(rb_eIOError, "a part of the body was not sent completely");
}

/* Returns BB_OK, or BB_AGAIN: the client is slow. */
static int put_once(struct bbr_exchange *exchange, struct put *put)
{
    size_t len = (size_t)RSTRING_LEN(put->part); /* another thread may have changed the String */
    uint64_t taken;
    if (len <= put->sent) return BB_OK;
    struct bb_slice slice = {RSTRING_PTR(put->part) + put->sent, len - put->sent};
    int code = bbr_send_once(exchange, &slice, 1, false, &taken);
    put->sent += (size_t)taken;
    RB_GC_GUARD(put->part);
    return code;
}

static VALUE wait_for_socket(VALUE fd)
{
    bbr_wait_for_descriptor(NUM2INT(fd), RB_WAITFD_OUT, NULL, NULL);
    return Qnil;
}

/* If the request ends during the wait, the descriptor is closed. exchange_of() raises then. Any other
 * exception comes from Thread#raise. */
static VALUE ignore_late_error(VALUE self, VALUE error)
{
    if (each_of(self)->exchange) rb_exc_raise(error);
    return Qnil;
}

static void wait_elsewhere(struct bbr_exchange *exchange, VALUE self)
{
    struct bb_lane *core = exchange->lane->core;
    int code = bb_reply_spool(core);
    bbr_reply_check(exchange, code);
    if (code == BB_AGAIN)
        rb_rescue2(wait_for_socket, INT2NUM(bb_request_fd(core)), ignore_late_error, self,
                   rb_eSystemCallError, rb_eIOError, (VALUE)0);
}

static VALUE put_loop(VALUE argument)
{
    struct put *put = (struct put *)argument;
    const struct each *each = each_of(put->self);
    struct bbr_exchange *exchange = exchange_of(each);
    if (each->cut) raise_cut(exchange);
    while (put_once(exchange, put) == BB_AGAIN) {
        if (each->thread == rb_thread_current())
            bbr_send_wait(exchange);
        else
            wait_elsewhere(exchange, put->self);
        exchange = exchange_of(each);
    }
    put->done = true;
    return Qnil;
}

/* Runs also if the thread was interrupted or killed in the middle of the part. The thread may have waited
 * until the client takes bytes of earlier parts. Nobody waits for that now. */
static VALUE end_put(VALUE argument)
{
    const struct put *put = (const struct put *)argument;
    struct each *each = each_of(put->self);
    if (put->done) return Qnil;
    if (put->sent > 0) each->cut = true;
    if (each->exchange && each->pid == getpid()) bb_reply_pause(each->exchange->lane->core);
    return Qnil;
}

static VALUE put_all(VALUE argument)
{
    return rb_ensure(put_loop, argument, end_put, argument);
}

static VALUE lock_of(VALUE self)
{
    struct each *each = each_of(self);
    if (NIL_P(each->lock)) RB_OBJ_WRITE(self, &each->lock, rb_mutex_new());
    return each->lock;
}

/* If the socket takes the part at once, no other thread can come between its bytes. */
static VALUE take_part(RB_BLOCK_CALL_FUNC_ARGLIST(part, self))
{
    const struct each *each = each_of(self);
    struct put put = {.self = self, .part = bbr_reply_string(part)};
    bool alone = NIL_P(each->lock) && each->thread == rb_thread_current();
    if (alone && each->exchange && !each->cut && put_once(each->exchange, &put) == BB_OK) return Qnil;
    rb_mutex_synchronize(lock_of(self), put_all, (VALUE)&put);
    return Qnil;
}

/* ---- all parts ---- */

static VALUE detach(VALUE self)
{
    each_of(self)->exchange = NULL;
    return Qnil;
}

/* The client would read more parts as its next response. Another thread may be in the middle of a part. */
static void end_parts(VALUE self)
{
    const struct each *each = each_of(self);
    if (NIL_P(each->lock))
        detach(self);
    else
        rb_mutex_synchronize(each->lock, detach, self);
}

void bbr_each_reply(struct bbr_exchange *exchange, VALUE body)
{
    struct each *each;
    VALUE self = exchange->each = TypedData_Make_Struct(rb_cObject, struct each, &each_type, each);
    each->exchange = exchange;
    each->lock = Qnil;
    each->pid = exchange->lane->pid;
    RB_OBJ_WRITE(self, &each->thread, exchange->thread);
    rb_block_call(body, id_each, 0, NULL, take_part, self);
    end_parts(self);
    if (each_of(self)->cut) raise_cut(exchange);
    bbr_reply_flush(exchange, true);
    RB_GC_GUARD(self);
}

void bbr_each_detach(VALUE self)
{
    detach(self);
}

void bbr_init_each(void)
{
    id_each = rb_intern("each");
}
