/* rb_input_read.c: the methods of rack.input that read bytes, as IO does. rb_input_lines.c is for lines. */
#include "request/rb_input.h"

#include <errno.h>
#include <limits.h>
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

/* At the end of the body, read returns nil if the length is above 0, else "". */
static VALUE nil_at_end(VALUE string, VALUE length)
{
    return RSTRING_LEN(string) == 0 && !NIL_P(length) && NUM2LONG(length) > 0 ? Qnil : string;
}

static VALUE input_read(int argc, VALUE *argv, VALUE self)
{
    VALUE length, buffer;
    rb_scan_args(argc, argv, "02", &length, &buffer);
    if (!NIL_P(buffer)) StringValue(buffer);
    long wanted = NIL_P(length) ? LONG_MAX : NUM2LONG(length);
    if (wanted < 0) rb_raise(rb_eArgError, "negative length %ld given", wanted);

    struct input *input = bbr_input_readable(self);
    if (input->unbuffered)
        return nil_at_end(bbr_input_take_received(input, prepare(buffer, 0), wanted, false), length);
    size_t len = bbr_input_at_most(bbr_input_left(input), (size_t)wanted);
    VALUE string = prepare(buffer, len);
    bbr_input_copy_out(input, input->position, RSTRING_PTR(string), len);
    input->position += len;
    return nil_at_end(string, length);
}

VALUE bbr_input_or_eof(VALUE value)
{
    if (NIL_P(value)) rb_eof_error();
    return value;
}

/* Returns the bytes that have come, at most `length`. Waits only if there are none. */
static VALUE read_received(struct input *input, VALUE length, VALUE buffer)
{
    long wanted = NUM2LONG(length);
    if (wanted < 0) rb_raise(rb_eArgError, "negative length %ld given", wanted);
    if (!NIL_P(buffer)) StringValue(buffer);
    return nil_at_end(bbr_input_take_received(input, prepare(buffer, 0), wanted, true), length);
}

/* readpartial(length, [buffer]), sysread. */
static VALUE input_readpartial(int argc, VALUE *argv, VALUE self)
{
    struct input *input = bbr_input_readable(self);
    rb_check_arity(argc, input->unbuffered ? 1 : 0, 2);
    VALUE string = input->unbuffered ? read_received(input, argv[0], argc > 1 ? argv[1] : Qnil)
                                     : input_read(argc, argv, self);
    return bbr_input_or_eof(string);
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
    VALUE arguments[2], options, exception = Qundef;
    rb_scan_args(argc, argv, "11:", &arguments[0], &arguments[1], &options);
    ID name = rb_intern("exception");
    if (!NIL_P(options)) rb_get_kwargs(options, &name, 0, 1, &exception);
    struct input *input = bbr_input_readable(self);
    if (input->unbuffered && bbr_input_try_receive(input) == BB_AGAIN) return would_block(exception);
    VALUE string = input->unbuffered ? read_received(input, arguments[0], arguments[1])
                                     : input_read(NIL_P(arguments[1]) ? 1 : 2, arguments, self);
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
