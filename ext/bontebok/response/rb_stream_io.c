/* rb_stream_io.c: see rb_stream.h. Sends and reads the bytes of a Stream, and waits for the client. */
#include "response/rb_stream.h"

#include <ruby/io.h>

/* Bytes that one read from the socket asks for. */
#define WINDOW (16 * 1024)

/* ---- waiting ---- */

struct wait {
    struct stream *stream;
    enum bb_stream_event event;
    struct bb_lane *lane; /* NULL, or the lane of the thread that waits for its client */
};

/* The lane that waits, if its own thread uses the stream during the request. */
static struct bb_lane *waiting_lane(const struct stream *stream)
{
    const struct bbr_exchange *exchange = stream->exchange;
    return exchange && exchange->thread == rb_thread_current() ? exchange->lane->core : NULL;
}

static void *without_gvl_wait(void *argument)
{
    const struct wait *wait = argument;
    if (wait->lane)
        bb_lane_wait_for_stream(wait->lane, wait->stream->core, wait->event);
    else
        bb_stream_wait(wait->stream->core, wait->event);
    return NULL;
}

static VALUE wait_for_client(VALUE argument)
{
    struct wait *wait = (struct wait *)argument;
    int events = wait->event == BB_STREAM_READABLE ? RB_WAITFD_IN : RB_WAITFD_OUT;
    bbr_wait_for_descriptor(bb_stream_fd(wait->stream->core), events, without_gvl_wait, wait);
    return Qnil;
}

static VALUE end_wait(VALUE argument)
{
    struct stream *stream = ((const struct wait *)argument)->stream;
    if (--stream->waiting == 0 && stream->dropped) bbr_stream_drop(stream);
    return Qnil;
}

static void await(VALUE self, enum bb_stream_event event)
{
    struct stream *stream = bbr_stream_of(self);
    struct wait wait = {stream, event, waiting_lane(stream)};
    stream->waiting++;
    rb_ensure(wait_for_client, (VALUE)&wait, end_wait, (VALUE)&wait);
    RB_GC_GUARD(self);
}

void bbr_stream_drop(struct stream *stream)
{
    stream->dropped = true;
    if (stream->waiting > 0) return;
    bb_stream_free(stream->core);
    stream->core = NULL;
    if (stream->worker) bbr_worker_release(stream->worker);
    stream->worker = NULL;
}

bool bbr_stream_is_over(const struct stream *stream)
{
    return stream->dropped || (stream->write_closed && (!stream->is_upgrade || stream->read_closed));
}

/* ---- writing ---- */

struct put {
    VALUE stream, part;
    bool last, done;
};

NORETURN(static void fail(struct stream *stream, int code));
static void fail(struct stream *stream, int code)
{
    if (stream->exchange) bbr_reply_fail(stream->exchange, code);
    bbr_raise(code);
}

static int put_once(struct stream *stream, VALUE part, bool last, size_t *sent)
{
    struct bb_slice slice = {NULL, 0};
    uint64_t taken;
    if (stream->dropped) rb_raise(rb_eIOError, "the stream is closed"); /* while this thread has waited */
    if (!NIL_P(part)) {
        slice = bbr_bytes(part); /* again, because another thread may have changed the String */
        size_t skip = *sent < slice.len ? *sent : slice.len;
        slice.at += skip;
        slice.len -= skip;
    }
    int code = bb_stream_write(stream->core, &slice, 1, last, &taken);
    *sent += (size_t)taken;
    RB_GC_GUARD(part);
    return code;
}

static VALUE put_loop(VALUE argument)
{
    struct put *put = (struct put *)argument;
    struct stream *stream = bbr_stream_of(put->stream);
    size_t sent = 0;
    int code;
    while ((code = put_once(stream, put->part, put->last, &sent)) == BB_AGAIN)
        await(put->stream, BB_STREAM_WRITABLE);
    if (code < 0) fail(stream, code);
    put->done = true;
    return Qnil;
}

/* If the thread was interrupted in the middle of a part, the response can never be complete. */
static VALUE end_put(VALUE argument)
{
    const struct put *put = (const struct put *)argument;
    struct stream *stream = bbr_stream_of(put->stream);
    if (put->last) stream->write_closed = true;
    if (!put->done) stream->broken = true;
    return Qnil;
}

static VALUE put_all(VALUE argument)
{
    const struct put *put = (const struct put *)argument;
    const struct stream *stream = bbr_stream_of(put->stream);
    if (put->last && stream->write_closed) return Qnil; /* another thread has closed it */
    if (stream->write_closed || stream->dropped || stream->broken)
        rb_raise(rb_eIOError, "not opened for writing");
    return rb_ensure(put_loop, argument, end_put, argument);
}

void bbr_stream_put(VALUE self, VALUE part, bool last)
{
    struct put put = {.stream = self, .part = part, .last = last};
    rb_mutex_synchronize(bbr_stream_of(self)->lock, put_all, (VALUE)&put);
}

/* ---- reading ---- */

/* Appends bytes to the String, until it has `wanted` bytes. Returns false at the end. Takes no bytes from the
 * client that the String cannot get: during the wait, another thread may change, freeze or lock it. */
static bool receive_once(VALUE self, VALUE string, long wanted)
{
    struct stream *stream = bbr_stream_of(self);
    char window[WINDOW];
    size_t got;
    int code;
    do {
        long missing = wanted - RSTRING_LEN(string);
        if (stream->dropped || missing <= 0) return false;
        rb_str_modify(string); /* raises if it is frozen or locked */
        code = bb_stream_read(stream->core, window, missing < WINDOW ? (size_t)missing : WINDOW, &got);
        if (code == BB_AGAIN) await(self, BB_STREAM_READABLE);
    } while (code == BB_AGAIN);
    if (code != BB_OK) return false;
    rb_str_cat(string, window, (long)got);
    return true;
}

VALUE bbr_stream_receive(int argc, VALUE *argv, VALUE self, bool partial)
{
    VALUE length, buffer;
    rb_scan_args(argc, argv, "02", &length, &buffer);
    long wanted = bbr_read_length(length);
    VALUE string = NIL_P(buffer) ? rb_str_new(NULL, 0) : rb_str_resize(StringValue(buffer), 0);
    while (RSTRING_LEN(string) < wanted) {
        if (!receive_once(self, string, wanted)) break;
        if (partial) break;
    }
    return RSTRING_LEN(string) == 0 && wanted > 0 ? Qnil : string;
}

/* ---- the unbuffered body of the request ---- */

static int read_body(VALUE self, char *bytes, size_t len, size_t *got)
{
    struct stream *stream = bbr_stream_of(self);
    if (stream->dropped) rb_raise(rb_eIOError, "the stream is closed");
    if (!stream->core) rb_raise(rb_eIOError, "the request has ended");
    return bb_stream_read(stream->core, bytes, len, got);
}

static void await_body(VALUE self)
{
    await(self, BB_STREAM_READABLE);
}

const struct bbr_body_source bbr_stream_source = {read_body, await_body};
