/* rb_each.c: sends the parts that a body's `each` yields. The block of `each` gets the parts. The application
 * may keep the block longer than the response lasts, so the block has an object of its own. The end of the
 * response detaches this object, and a later call of the block raises IOError. */
#include "rb_bontebok.h"

struct each {
    struct bbr_exchange *exchange; /* NULL: detached */
};

static ID id_each;

static size_t each_size(const void *data)
{
    return sizeof(struct each);
}

static const rb_data_type_t each_type = {
    .wrap_struct_name = "Bontebok::Core::Each",
    .function = {.dfree = RUBY_DEFAULT_FREE, .dsize = each_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

/* The application has no reference to this object, so its type is known. */
static struct each *each_of(VALUE self)
{
    return RTYPEDDATA_DATA(self);
}

/* Only the thread that serves a request is allowed to send its parts. Otherwise another thread could send a
 * part while the serving thread waits for the client. */
static VALUE take_part(RB_BLOCK_CALL_FUNC_ARGLIST(part, self))
{
    VALUE string = bbr_reply_string(part);
    struct bbr_exchange *exchange = each_of(self)->exchange;
    if (!exchange) rb_raise(rb_eIOError, "the response has ended");
    if (exchange->thread != rb_thread_current())
        rb_raise(rb_eThreadError, "only the thread that serves a request may send the parts of `each`");
    bbr_reply_part(exchange, string);
    return Qnil;
}

void bbr_each_reply(struct bbr_exchange *exchange, VALUE body)
{
    struct each *each;
    exchange->each = TypedData_Make_Struct(rb_cObject, struct each, &each_type, each);
    each->exchange = exchange;
    rb_block_call(body, id_each, 0, NULL, take_part, exchange->each);
    bbr_reply_flush(exchange, true);
    bbr_each_detach(exchange->each); /* the client would read more parts as its next response */
}

void bbr_each_detach(VALUE self)
{
    each_of(self)->exchange = NULL;
}

void bbr_init_each(void)
{
    id_each = rb_intern("each");
}
