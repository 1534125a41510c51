/* rb_stream.c: Bontebok::Core::Stream, the argument of a streaming body's `call` (SPEC of Rack 3). The Stream
 * may outlive the call: any thread or fiber may write to it, and the thread that serves requests is free.
 * rb_stream_io.c sends, reads and waits. The response ends when the application closes the Stream. If the
 * application forgets the Stream, the GC frees it, and the connection is reset. */
#include "response/rb_stream.h"

#include <ruby/io.h>

static ID id_new, id_read, id_readpartial;

VALUE bbr_stream_new(struct bbr_exchange *exchange)
{
    VALUE self = bbr_stream_allocate();
    struct stream *stream = bbr_stream_of(self);
    RB_OBJ_WRITE(self, &stream->input, NIL_P(exchange->input) ? exchange->lane->no_input : exchange->input);
    RB_OBJ_WRITE(self, &stream->lock, rb_mutex_new());
    bbr_reply_check(exchange, bb_lane_detach(exchange->lane->core, &stream->core));
    stream->worker = exchange->lane->worker;
    stream->worker->holders++;
    stream->is_upgrade = bb_stream_is_upgrade(stream->core);
    stream->exchange = exchange;
    bbr_input_follow(stream->input, &bbr_stream_source, self);
    exchange->detached = true;
    return self;
}

/* ---- the end of the request ---- */

static VALUE run_rest(RB_BLOCK_CALL_FUNC_ARGLIST(nothing, rest))
{
    return bbr_finish_run(rest);
}

static VALUE start_thread(VALUE rest)
{
    return rb_block_call(rb_cThread, id_new, 0, NULL, run_rest, rest);
}

/* The response will never be complete. A thread of its own calls the application, because the caller must not
 * wait for the application. */
static void finish_apart(VALUE rest, const char *why)
{
    if (!bbr_finish_is_due(rest)) return;
    bbr_finish_failed(rest, rb_exc_new_cstr(bbr_eClientGone, why));
    if (!NIL_P(bbr_attempt(start_thread, rest))) bbr_finish_run(rest); /* at the end of the process */
}

/* Runs when the GC has freed a Stream that outlived its request. The GC may run in a thread that holds a lock
 * of the application. */
static VALUE orphaned(RB_BLOCK_CALL_FUNC_ARGLIST(id, rest))
{
    finish_apart(rest, "the stream was dropped before its end");
    return Qnil;
}

void bbr_stream_leave(VALUE self)
{
    struct stream *stream = bbr_stream_of(self);
    struct bbr_exchange *exchange = stream->exchange;
    if (!exchange) return;
    stream->exchange = NULL;
    if (stream->core) bb_lane_rejoin(exchange->lane->core, stream->core);
    if (!stream->core || exchange->gone || stream->broken || bbr_stream_is_over(stream)) {
        bbr_stream_drop(stream);
        return;
    }
    if (!NIL_P(exchange->input)) RB_OBJ_WRITE(self, &stream->input, bbr_input_keep(exchange->input));
    exchange->input = Qnil;
    VALUE body = exchange->body == Qundef ? Qnil : exchange->body;
    exchange->body = Qundef;
    RB_OBJ_WRITE(self, &stream->rest, bbr_finish_take(exchange, body));
    /* The lock is freed with the Stream. A frozen object can have no finalizer, and the application may have
     * frozen the Stream. */
    rb_define_finalizer(stream->lock, rb_proc_new(orphaned, stream->rest));
    bbr_report(exchange, "detached", Qnil, self);
}

void bbr_stream_abort(VALUE self)
{
    struct stream *stream = bbr_stream_of(self);
    stream->exchange = NULL;
    bbr_stream_drop(stream);
}

void bbr_stream_flush(VALUE self)
{
    bbr_stream_put(self, Qnil, false);
}

/* ---- methods ---- */

/* write(*objects): sends each object. Returns the sum of their bytes. */
static VALUE stream_write(int argc, VALUE *argv, VALUE self)
{
    uint64_t bytes = 0;
    for (int i = 0; i < argc; i++) {
        VALUE string = rb_obj_as_string(argv[i]);
        bbr_stream_put(self, string, false);
        bytes += (uint64_t)RSTRING_LEN(string);
    }
    return ULL2NUM(bytes);
}

static VALUE stream_append(VALUE self, VALUE object)
{
    stream_write(1, &object, self);
    return self;
}

/* flush: waits until the client's socket has all bytes. */
static VALUE stream_flush(VALUE self)
{
    bbr_stream_flush(self);
    return self;
}

/* read([length, [buffer]]): reads the request's body, then returns nil. After an upgrade, reads what the
 * client sends, as IO#read does. */
static VALUE stream_read(int argc, VALUE *argv, VALUE self)
{
    struct stream *stream = bbr_stream_of(self);
    if (stream->read_closed) rb_raise(rb_eIOError, "not opened for reading");
    if (stream->is_upgrade) return bbr_stream_receive(argc, argv, self, false);
    if (stream->body_read && (argc == 0 || NIL_P(argv[0]))) return Qnil;
    VALUE bytes = rb_funcallv(stream->input, id_read, argc, argv);
    stream->body_read = stream->body_read || argc == 0 || NIL_P(argv[0]);
    return bytes;
}

/* readpartial(length, [buffer]): returns the bytes that have come, and waits only if there are none. */
static VALUE stream_readpartial(int argc, VALUE *argv, VALUE self)
{
    struct stream *stream = bbr_stream_of(self);
    rb_check_arity(argc, 1, 2);
    if (stream->read_closed) rb_raise(rb_eIOError, "not opened for reading");
    if (!stream->is_upgrade) return rb_funcallv(stream->input, id_readpartial, argc, argv);
    VALUE bytes = bbr_stream_receive(argc, argv, self, true);
    if (NIL_P(bytes)) rb_eof_error();
    return bytes;
}

/* Returns the work that is left. The finalizer is not needed any more. It would keep the lane and the
 * application for as long as the Stream, and the application may keep the Stream. */
static VALUE take_rest(const struct stream *stream)
{
    rb_undefine_finalizer(stream->lock);
    return stream->rest;
}

/* Called when one direction is closed. If both are closed, does the work that is left after the response.
 * During the request the serving thread does this work. */
static void finish(VALUE self)
{
    struct stream *stream = bbr_stream_of(self);
    if (stream->exchange || !bbr_stream_is_over(stream)) return;
    bbr_stream_drop(stream);
    if (!NIL_P(stream->rest)) bbr_finish_run(take_rest(stream));
}

static VALUE stream_close_read(VALUE self)
{
    bbr_stream_of(self)->read_closed = true;
    finish(self);
    return Qnil;
}

static VALUE end_writing(VALUE self)
{
    bbr_stream_put(self, Qnil, true);
    return Qnil;
}

/* Ends the response. Does not raise if the client is gone. */
static VALUE stream_close_write(VALUE self)
{
    struct stream *stream = bbr_stream_of(self);
    if (stream->write_closed || stream->dropped) return Qnil;
    VALUE error = stream->broken ? Qnil : bbr_attempt(end_writing, self);
    stream->write_closed = true;
    if (stream->broken || !NIL_P(error)) stream->read_closed = true;
    if (!NIL_P(error) && !NIL_P(stream->rest)) bbr_finish_failed(stream->rest, error);
    finish(self);
    if (!NIL_P(error) && !RTEST(rb_obj_is_kind_of(error, bbr_eClientGone))) rb_exc_raise(error);
    return Qnil;
}

static VALUE stream_close(VALUE self)
{
    bbr_stream_of(self)->read_closed = true;
    stream_close_write(self);
    finish(self);
    return Qnil;
}

/* abort: for lib, when the server stops. Resets the connection, unless the Stream is closed. */
static VALUE stream_abort(VALUE self)
{
    struct stream *stream = bbr_stream_of(self);
    if (stream->exchange) rb_raise(rb_eIOError, "abort: the request has not ended");
    stream->read_closed = stream->write_closed = stream->broken = true;
    bbr_stream_drop(stream);
    if (!NIL_P(stream->rest)) finish_apart(take_rest(stream), "the server has stopped");
    return Qnil;
}

static VALUE stream_is_closed(VALUE self)
{
    const struct stream *stream = bbr_stream_of(self);
    return !stream->core || (stream->read_closed && stream->write_closed) ||
                   bb_stream_client_gone(stream->core)
               ? Qtrue
               : Qfalse;
}

void bbr_init_stream(VALUE core)
{
    id_new = rb_intern("new");
    id_read = rb_intern("read");
    id_readpartial = rb_intern("readpartial");
    VALUE class = bbr_init_stream_object(core);
    rb_define_method(class, "write", stream_write, -1);
    rb_define_method(class, "<<", stream_append, 1);
    rb_define_method(class, "flush", stream_flush, 0);
    rb_define_method(class, "close_write", stream_close_write, 0);
    rb_define_method(class, "read", stream_read, -1);
    rb_define_method(class, "readpartial", stream_readpartial, -1);
    rb_define_method(class, "close_read", stream_close_read, 0);
    rb_define_method(class, "close", stream_close, 0);
    rb_define_method(class, "abort", stream_abort, 0);
    rb_define_method(class, "closed?", stream_is_closed, 0);
}
