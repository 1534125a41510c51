/* rb_stream_object.c: see rb_stream.h. The memory of a Stream. */
#include "response/rb_stream.h"

static VALUE stream_class;

static void stream_mark(void *data)
{
    struct stream *stream = data;
    rb_gc_mark_movable(stream->input);
    rb_gc_mark_movable(stream->rest);
    rb_gc_mark_movable(stream->lock);
}

static void stream_compact(void *data)
{
    struct stream *stream = data;
    stream->input = rb_gc_location(stream->input);
    stream->rest = rb_gc_location(stream->rest);
    stream->lock = rb_gc_location(stream->lock);
}

static void stream_free(void *data)
{
    struct stream *stream = data;
    bb_stream_free(stream->core);
    if (stream->worker) bbr_worker_release(stream->worker);
    xfree(stream);
}

static size_t stream_size(const void *data)
{
    return sizeof(struct stream);
}

static const rb_data_type_t stream_type = {
    .wrap_struct_name = "Bontebok::Core::Stream",
    .function = {.dmark = stream_mark,
                 .dfree = stream_free,
                 .dsize = stream_size,
                 .dcompact = stream_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

struct stream *bbr_stream_of(VALUE self)
{
    struct stream *stream;
    TypedData_Get_Struct(self, struct stream, &stream_type, stream);
    return stream;
}

VALUE bbr_stream_allocate(void)
{
    struct stream *stream;
    VALUE self = TypedData_Make_Struct(stream_class, struct stream, &stream_type, stream);
    stream->input = stream->rest = stream->lock = Qnil;
    return self;
}

VALUE bbr_init_stream_object(VALUE core)
{
    stream_class = rb_define_class_under(core, "Stream", rb_cObject);
    rb_gc_register_address(&stream_class);
    rb_undef_alloc_func(stream_class);
    return stream_class;
}
