/* rb_input_read.c: the methods of rack.input that read bytes, as IO does. rb_input_lines.c is for lines. */
#include "request/rb_input.h"

#include <errno.h>
#include <ruby/encoding.h>
#include <ruby/io.h>

/* Returns a String of len bytes, not filled yet. It is the caller's buffer if there is one. */
static VALUE prepare(VALUE buffer, size_t len)
{
    if (NIL_P(buffer)) return rb_str_new(NULL, (long)len);
    rb_str_modify(buffer);
    rb_str_resize(buffer, (long)len);
    rb_enc_associate(buffer, rb_ascii8bit_encoding());
    return buffer;
}

/* Reads `length` bytes, or all if it is nil. At the end of the body, returns nil if the length is above 0,
 * else "". partial: returns the bytes of an unbuffered body that have come, and waits only if there are
 * none. */
static VALUE read_bytes(VALUE self, VALUE length, VALUE buffer, bool partial)
{
    if (!NIL_P(buffer)) StringValue(buffer);
    long wanted = bbr_read_length(length);
    struct input *input = bbr_input_readable(self);
    VALUE string;
    if (input->unbuffered) {
        string = bbr_input_take_received(input, prepare(buffer, 0), wanted, partial);
    } else {
        size_t len = bbr_input_at_most(bbr_input_left(input), (size_t)wanted);
        string = prepare(buffer, len);
        bbr_input_copy_out(input, input->position, RSTRING_PTR(string), len);
        input->position += len;
    }
    return RSTRING_LEN(string) == 0 && !NIL_P(length) && wanted > 0 ? Qnil : string;
}

static VALUE input_read(int argc, VALUE *argv, VALUE self)
{
    VALUE length, buffer;
    rb_scan_args(argc, argv, "02", &length, &buffer);
    return read_bytes(self, length, buffer, false);
}

VALUE bbr_input_or_eof(VALUE value)
{
    if (NIL_P(value)) rb_eof_error();
    return value;
}

/* The length of an unbuffered body may be unknown, so `length` cannot be nil: raises TypeError. */
static VALUE read_partial(VALUE self, VALUE length, VALUE buffer)
{
    if (bbr_input_readable(self)->unbuffered) length = rb_to_int(length);
    return read_bytes(self, length, buffer, true);
}

/* readpartial(length, [buffer]), sysread. */
static VALUE input_readpartial(int argc, VALUE *argv, VALUE self)
{
    VALUE length, buffer;
    rb_check_arity(argc, bbr_input_readable(self)->unbuffered ? 1 : 0, 2);
    rb_scan_args(argc, argv, "02", &length, &buffer);
    return bbr_input_or_eof(read_partial(self, length, buffer));
}

/* IO#read_nonblock raises an exception that the caller can rescue as IO::WaitReadable. */
static VALUE would_block(VALUE exception)
{
    if (exception == Qfalse) return ID2SYM(rb_intern("wait_readable"));
    rb_readwrite_syserr_fail(RB_IO_WAIT_READABLE, EAGAIN, "read would block");
}

/* read_nonblock(length, [buffer], exception: true). With exception: false, returns nil at the end of the
 * body. */
static VALUE input_read_nonblock(int argc, VALUE *argv, VALUE self)
{
    VALUE length, buffer, options, exception = Qundef;
    rb_scan_args(argc, argv, "11:", &length, &buffer, &options);
    ID name = rb_intern("exception");
    if (!NIL_P(options)) rb_get_kwargs(options, &name, 0, 1, &exception);
    struct input *input = bbr_input_readable(self);
    if (input->unbuffered && bbr_input_try_receive(input) == BB_AGAIN) return would_block(exception);
    VALUE string = read_partial(self, length, buffer);
    return exception == Qfalse ? string : bbr_input_or_eof(string);
}

void bbr_init_input_read(VALUE core)
{
    VALUE class = rb_const_get(core, rb_intern("Input"));
    rb_define_method(class, "read", input_read, -1);
    rb_define_method(class, "readpartial", input_readpartial, -1);
    rb_define_method(class, "read_nonblock", input_read_nonblock, -1);
    rb_define_alias(class, "sysread", "readpartial");
}
