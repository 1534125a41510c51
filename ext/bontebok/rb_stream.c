/* rb_stream.c: Bontebok::Core::Stream, the writing end of one response. A streaming body's `call` gets the
 * Stream as its argument. If a body has `each`, the parts that `each` yields go through the Stream, too. The
 * application may keep the Stream, or the block of `each`, longer than the response lasts. So the Stream is
 * an object of its own. The end of the response detaches the Stream, and a later write raises IOError. */
#include "rb_bontebok.h"

struct stream {
    struct bbr_exchange *exchange; /* NULL: detached, or closed for writing */
    VALUE input;                   /* rack.input, for read */
    bool read_closed;
};

static VALUE stream_class;
static ID id_read;

/* ---- the object ---- */

static void stream_mark(void *data)
{
    rb_gc_mark_movable(((struct stream *)data)->input);
}

static void stream_compact(void *data)
{
    struct stream *stream = data;
    stream->input = rb_gc_location(stream->input);
}

static size_t stream_size(const void *data)
{
    return sizeof(struct stream);
}

static const rb_data_type_t stream_type = {
    .wrap_struct_name = "Bontebok::Core::Stream",
    .function = {.dmark = stream_mark,
                 .dfree = RUBY_DEFAULT_FREE,
                 .dsize = stream_size,
                 .dcompact = stream_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

VALUE bbr_stream_new(struct bbr_exchange *exchange)
{
    struct stream *stream;
    VALUE self = TypedData_Make_Struct(stream_class, struct stream, &stream_type, stream);
    stream->exchange = exchange;
    RB_OBJ_WRITE(self, &stream->input, NIL_P(exchange->input) ? exchange->lane->no_input : exchange->input);
    return self;
}

static struct stream *stream_of(VALUE self)
{
    struct stream *stream;
    TypedData_Get_Struct(self, struct stream, &stream_type, stream);
    return stream;
}

/* Only the thread that serves a request is allowed to write its response. Otherwise another thread could
 * write while the serving thread waits for the client. */
static struct bbr_exchange *writable(VALUE self)
{
    struct bbr_exchange *exchange = stream_of(self)->exchange;
    if (!exchange) rb_raise(rb_eIOError, "the response has ended");
    if (exchange->thread != rb_thread_current())
        rb_raise(rb_eThreadError, "only the thread that serves a request may write its response");
    return exchange;
}

void bbr_stream_detach(VALUE self)
{
    struct stream *stream = stream_of(self);
    stream->exchange = NULL;
    stream->read_closed = true;
}

/* Ends the body, unless the application has ended it. If the application has rescued ClientGone, raises
 * ClientGone again. */
void bbr_stream_finish(VALUE self)
{
    struct stream *stream = stream_of(self);
    struct bbr_exchange *exchange = stream->exchange;
    if (!exchange) return;
    bbr_reply_flush(exchange, true);
    stream->exchange = NULL;
}

/* ---- writing ---- */

VALUE bbr_stream_yielded(RB_BLOCK_CALL_FUNC_ARGLIST(part, self))
{
    VALUE string = bbr_reply_string(part);
    bbr_reply_part(writable(self), string);
    return Qnil;
}

/* write(*objects): sends each object at once. Returns the sum of their bytes. */
static VALUE stream_write(int argc, VALUE *argv, VALUE self)
{
    uint64_t bytes = 0;
    for (int i = 0; i < argc; i++) {
        VALUE string = rb_obj_as_string(argv[i]);
        bbr_reply_part(writable(self), string);
        bytes += (uint64_t)RSTRING_LEN(string);
    }
    return ULL2NUM(bytes);
}

static VALUE stream_append(VALUE self, VALUE object)
{
    stream_write(1, &object, self);
    return self;
}

/* flush: sends the head, or the pending bytes. */
static VALUE stream_flush(VALUE self)
{
    bbr_reply_flush(writable(self), false);
    return self;
}

static VALUE stream_close_write(VALUE self)
{
    if (!stream_of(self)->exchange) return Qnil;
    (void)writable(self);
    bbr_stream_finish(self);
    return Qnil;
}

/* ---- reading ---- */

/* read([length, [buffer]]): reads the request's body, which is complete. */
static VALUE stream_read(int argc, VALUE *argv, VALUE self)
{
    struct stream *stream = stream_of(self);
    if (stream->read_closed) rb_raise(rb_eIOError, "not opened for reading");
    return rb_funcallv(stream->input, id_read, argc, argv);
}

static VALUE stream_close_read(VALUE self)
{
    stream_of(self)->read_closed = true;
    return Qnil;
}

/* ---- both ---- */

static VALUE stream_close(VALUE self)
{
    stream_close_read(self);
    return stream_close_write(self);
}

static VALUE stream_is_closed(VALUE self)
{
    struct stream *stream = stream_of(self);
    return stream->read_closed && !stream->exchange ? Qtrue : Qfalse;
}

void bbr_init_stream(VALUE core)
{
    id_read = rb_intern("read");
    stream_class = rb_define_class_under(core, "Stream", rb_cObject);
    rb_gc_register_address(&stream_class);
    rb_undef_alloc_func(stream_class);
    rb_define_method(stream_class, "write", stream_write, -1);
    rb_define_method(stream_class, "<<", stream_append, 1);
    rb_define_method(stream_class, "flush", stream_flush, 0);
    rb_define_method(stream_class, "close_write", stream_close_write, 0);
    rb_define_method(stream_class, "read", stream_read, -1);
    rb_define_method(stream_class, "close_read", stream_close_read, 0);
    rb_define_method(stream_class, "close", stream_close, 0);
    rb_define_method(stream_class, "closed?", stream_is_closed, 0);
}
