/* rb_input.c: Bontebok::Core::Input, the object in env["rack.input"]. It gives the decoded body of one
 * request, and is rewindable and binary. Its methods behave like those of StringIO. rb_input_lines.c has the
 * methods that read lines and characters.
 *
 * The Input borrows the core's memory or spool file, and is detached when the request ends. Later calls raise
 * IOError. Requests without a body share one empty Input. The empty Input has no state at all, so `close` and
 * `rewind` have no effect on it.
 */
#include "rb_input.h"

#include <errno.h>
#include <fcntl.h>
#include <ruby/encoding.h>
#include <ruby/io.h>
#include <string.h>
#include <unistd.h>

/* Bytes per read from the spool, if the application reads lines or characters. */
#define WINDOW (16 * 1024)

static VALUE input_class;

/* ---- the object ---- */

static void forget_copy(struct input *input)
{
    xfree(input->kept);
    if (input->owns_fd) (void)close(input->fd);
    input->kept = NULL;
    input->owns_fd = false;
}

static void input_free(void *data)
{
    struct input *input = data;
    forget_copy(input);
    xfree(input->window);
    xfree(input);
}

static size_t input_size_of(const void *data)
{
    const struct input *input = data;
    return sizeof *input + (input->window ? WINDOW : 0);
}

static const rb_data_type_t input_type = {
    .wrap_struct_name = "Bontebok::Core::Input",
    .function = {.dfree = input_free, .dsize = input_size_of},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

VALUE bbr_input_new(const struct bb_request *request)
{
    struct input *input;
    VALUE self = TypedData_Make_Struct(input_class, struct input, &input_type, input);
    input->memory = request->body;
    input->fd = request->body_fd;
    input->size = request->body_length;
    return self;
}

VALUE bbr_input_empty(void)
{
    struct input *input;
    VALUE self = TypedData_Make_Struct(input_class, struct input, &input_type, input);
    input->memory = "";
    return self;
}

struct input *bbr_input_of(VALUE self)
{
    struct input *input;
    TypedData_Get_Struct(self, struct input, &input_type, input);
    return input;
}

static void end(struct input *input, const char *reason)
{
    forget_copy(input);
    input->memory = NULL;
    input->fd = -1;
    input->ended = reason;
}

void bbr_input_detach(VALUE self)
{
    end(bbr_input_of(self), "the request has ended");
}

void bbr_input_keep(VALUE self)
{
    struct input *input = bbr_input_of(self);
    if (input->ended) return;
    if (input->memory) {
        input->kept = ALLOC_N(char, input->size);
        memcpy(input->kept, input->memory, input->size);
        input->memory = input->kept;
        return;
    }
    int fd = fcntl(input->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) rb_sys_fail("rack.input");
    input->fd = fd;
    input->owns_fd = true;
}

struct input *bbr_input_readable(VALUE self)
{
    struct input *input = bbr_input_of(self);
    if (input->ended) rb_raise(rb_eIOError, "rack.input: %s", input->ended);
    return input;
}

/* ---- bytes ---- */

/* Copies exactly len bytes from an offset. The caller has checked that the body has them. */
static void copy_out(const struct input *input, uint64_t offset, char *into, size_t len)
{
    if (len == 0) return; /* the position may be beyond the end */
    if (input->memory) {
        memcpy(into, input->memory + offset, len);
        return;
    }
    while (len > 0) {
        ssize_t got = pread(input->fd, into, len, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) rb_sys_fail("rack.input");
        if (got == 0) rb_raise(rb_eIOError, "rack.input: the spooled body was cut off");
        into += got;
        offset += (uint64_t)got;
        len -= (size_t)got;
    }
}

static size_t at_most(uint64_t available, size_t wanted)
{
    return available < wanted ? (size_t)available : wanted;
}

struct bb_slice bbr_input_ahead(struct input *input)
{
    if (bbr_input_left(input) == 0) return (struct bb_slice){"", 0};
    if (input->memory)
        return (struct bb_slice){input->memory + input->position, (size_t)bbr_input_left(input)};
    uint64_t skip = input->position - input->window_start;
    if (input->position < input->window_start || skip >= input->window_len) {
        if (!input->window) input->window = ALLOC_N(char, WINDOW);
        input->window_len = 0;
        size_t len = at_most(bbr_input_left(input), WINDOW);
        copy_out(input, input->position, input->window, len);
        input->window_start = input->position;
        input->window_len = len;
        skip = 0;
    }
    return (struct bb_slice){input->window + skip, input->window_len - (size_t)skip};
}

/* ---- reading, as IO does ---- */

/* Returns a String of len bytes, not filled yet. It is the caller's buffer if there is one. */
static VALUE prepare(VALUE buffer, size_t len)
{
    if (NIL_P(buffer)) return rb_str_new(NULL, (long)len);
    rb_str_modify(buffer);
    rb_str_resize(buffer, (long)len);
    rb_enc_associate(buffer, rb_ascii8bit_encoding());
    return buffer;
}

/* At the end of the body, returns nil if the length is above 0, else "". */
VALUE bbr_input_read(int argc, VALUE *argv, VALUE self)
{
    VALUE length, buffer;
    rb_scan_args(argc, argv, "02", &length, &buffer);
    if (!NIL_P(buffer)) StringValue(buffer);
    long wanted = NIL_P(length) ? LONG_MAX : NUM2LONG(length);
    if (wanted < 0) rb_raise(rb_eArgError, "negative length %ld given", wanted);

    struct input *input = bbr_input_readable(self);
    size_t len = at_most(bbr_input_left(input), (size_t)wanted);
    VALUE string = prepare(buffer, len);
    copy_out(input, input->position, RSTRING_PTR(string), len);
    input->position += len;
    return len == 0 && !NIL_P(length) && wanted > 0 ? Qnil : string;
}

VALUE bbr_input_or_eof(VALUE value)
{
    if (NIL_P(value)) rb_eof_error();
    return value;
}

/* readpartial(length, [buffer]), sysread. */
static VALUE input_readpartial(int argc, VALUE *argv, VALUE self)
{
    return bbr_input_or_eof(bbr_input_read(argc, argv, self));
}

/* read_nonblock(length, [buffer], exception: true). With exception: false, returns nil at the end of the
 * body. */
static VALUE input_read_nonblock(int argc, VALUE *argv, VALUE self)
{
    VALUE arguments[2], options, exception = Qundef;
    rb_scan_args(argc, argv, "11:", &arguments[0], &arguments[1], &options);
    ID name = rb_intern("exception");
    if (!NIL_P(options)) rb_get_kwargs(options, &name, 0, 1, &exception);
    VALUE string = bbr_input_read(NIL_P(arguments[1]) ? 1 : 2, arguments, self);
    return exception == Qfalse ? string : bbr_input_or_eof(string);
}

/* ---- the position ---- */

/* The empty Input, which requests without a body share, stays at position 0. */
static void move_to(struct input *input, uint64_t position)
{
    if (input->size > 0) input->position = position;
}

/* seek(amount, whence = IO::SEEK_SET) */
static VALUE input_seek(int argc, VALUE *argv, VALUE self)
{
    VALUE amount, whence;
    rb_scan_args(argc, argv, "11", &amount, &whence);
    int64_t distance = NUM2LL(amount), start = 0;
    long from = NIL_P(whence) ? SEEK_SET : NUM2LONG(whence);
    struct input *input = bbr_input_readable(self);
    if (from == SEEK_CUR)
        start = (int64_t)input->position;
    else if (from == SEEK_END)
        start = (int64_t)input->size;
    else if (from != SEEK_SET)
        rb_syserr_fail(EINVAL, "invalid whence");
    if (distance > INT64_MAX - start || distance + start < 0) rb_syserr_fail(EINVAL, NULL);
    move_to(input, (uint64_t)(start + distance));
    return INT2FIX(0);
}

static VALUE input_set_pos(VALUE self, VALUE position)
{
    input_seek(1, &position, self);
    return position;
}

static VALUE input_rewind(VALUE self)
{
    struct input *input = bbr_input_readable(self);
    input->position = 0;
    input->lineno = 0;
    return INT2FIX(0);
}

static VALUE input_pos(VALUE self)
{
    return ULL2NUM(bbr_input_readable(self)->position);
}

static VALUE input_is_eof(VALUE self)
{
    return bbr_input_left(bbr_input_readable(self)) == 0 ? Qtrue : Qfalse;
}

static VALUE input_size(VALUE self)
{
    return ULL2NUM(bbr_input_of(self)->size);
}

static VALUE input_close(VALUE self)
{
    struct input *input = bbr_input_of(self);
    if (input->size > 0 && !input->ended) end(input, "closed");
    return Qnil;
}

static VALUE input_is_closed(VALUE self)
{
    return bbr_input_of(self)->ended ? Qtrue : Qfalse;
}

/* ---- the Input is always binary ---- */

static VALUE input_encoding(VALUE self)
{
    return rb_enc_from_encoding(rb_ascii8bit_encoding());
}

static VALUE input_binmode(VALUE self)
{
    return self;
}

static VALUE input_is_binmode(VALUE self)
{
    return Qtrue;
}

/* internal_encoding and fileno: the Input has neither. */
static VALUE input_nil(VALUE self)
{
    return Qnil;
}

static VALUE input_is_tty(VALUE self)
{
    return Qfalse;
}

static VALUE input_set_encoding(int argc, VALUE *argv, VALUE self)
{
    return self;
}

void bbr_init_input(VALUE core)
{
    input_class = rb_define_class_under(core, "Input", rb_cObject);
    rb_gc_register_address(&input_class);
    rb_undef_alloc_func(input_class);
    rb_include_module(input_class, rb_mEnumerable);
    rb_define_method(input_class, "read", bbr_input_read, -1);
    rb_define_method(input_class, "readpartial", input_readpartial, -1);
    rb_define_method(input_class, "read_nonblock", input_read_nonblock, -1);
    rb_define_method(input_class, "seek", input_seek, -1);
    rb_define_method(input_class, "rewind", input_rewind, 0);
    rb_define_method(input_class, "pos", input_pos, 0);
    rb_define_method(input_class, "pos=", input_set_pos, 1);
    rb_define_method(input_class, "eof?", input_is_eof, 0);
    rb_define_method(input_class, "size", input_size, 0);
    rb_define_method(input_class, "close", input_close, 0);
    rb_define_method(input_class, "closed?", input_is_closed, 0);
    rb_define_method(input_class, "external_encoding", input_encoding, 0);
    rb_define_method(input_class, "internal_encoding", input_nil, 0);
    rb_define_method(input_class, "fileno", input_nil, 0);
    rb_define_method(input_class, "tty?", input_is_tty, 0);
    rb_define_method(input_class, "binmode", input_binmode, 0);
    rb_define_method(input_class, "binmode?", input_is_binmode, 0);
    rb_define_method(input_class, "set_encoding", input_set_encoding, -1);
    rb_define_alias(input_class, "length", "size");
    rb_define_alias(input_class, "tell", "pos");
    rb_define_alias(input_class, "eof", "eof?");
    rb_define_alias(input_class, "sysread", "readpartial");
    rb_define_alias(input_class, "isatty", "tty?");
    rb_define_alias(input_class, "sync", "binmode?");
}
