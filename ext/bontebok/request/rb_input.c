/* rb_input.c: Bontebok::Core::Input, the object in env["rack.input"]. It gives the decoded body of one
 * request, and is rewindable and binary. Its methods behave like those of StringIO. rb_input_read.c and
 * rb_input_lines.c have the methods that read. An unbuffered body (rb_input_receive.c) is not rewindable:
 * after `rewind`, a read raises Errno::ESPIPE.
 *
 * The Input borrows the core's memory or spool file, and is detached when the request ends. Later calls raise
 * IOError. Requests without a body share one empty Input. The empty Input has no state at all, so `close` and
 * `rewind` have no effect on it.
 */
#include "request/rb_input.h"

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

static void input_mark(void *data)
{
    rb_gc_mark_movable(((const struct input *)data)->from);
}

static void input_compact(void *data)
{
    struct input *input = data;
    input->from = rb_gc_location(input->from);
}

static size_t input_size_of(const void *data)
{
    const struct input *input = data;
    size_t window = input->unbuffered ? BBR_RECEIVE_WINDOW : WINDOW;
    return sizeof *input + (input->window ? window : 0);
}

static const rb_data_type_t input_type = {
    .wrap_struct_name = "Bontebok::Core::Input",
    .function = {.dmark = input_mark, .dfree = input_free, .dsize = input_size_of, .dcompact = input_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE new_input(struct input **input)
{
    VALUE self = TypedData_Make_Struct(input_class, struct input, &input_type, *input);
    (*input)->from = Qnil;
    return self;
}

VALUE bbr_input_new(struct bbr_exchange *exchange)
{
    const struct bb_request *request = exchange->request;
    struct input *input;
    VALUE self = new_input(&input);
    if (request->unbuffered) {
        input->unbuffered = true;
        input->exchange = exchange;
        input->has_size = request->head.has_length;
        input->size = request->head.content_length;
        return self;
    }
    input->memory = request->body;
    input->fd = request->body_fd;
    input->size = request->body_length;
    return self;
}

VALUE bbr_input_empty(void)
{
    struct input *input;
    VALUE self = new_input(&input);
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
    input->exchange = NULL;
    input->from = Qnil;
    input->ended = reason;
}

void bbr_input_detach(VALUE self)
{
    end(bbr_input_of(self), "the request has ended");
}

struct bb_slice bbr_input_hand_over(VALUE self)
{
    struct input *input = bbr_input_of(self);
    if (!input->unbuffered || input->ended) return (struct bb_slice){"", 0};
    end(input, "the connection is hijacked, and its socket has the body");
    return bbr_input_window(input);
}

/* The env refers to the old Input, and the rest of the request (rb_finish.c) to the env. If the old Input
 * referred to the stream, a dropped stream would never be freed. */
static VALUE move_unbuffered(struct input *input)
{
    struct input *moved;
    VALUE self = new_input(&moved);
    *moved = *input;
    RB_OBJ_WRITTEN(self, Qundef, moved->from);
    input->window = NULL;
    input->window_len = 0;
    end(input, "the request has ended, and its stream has the body");
    return self;
}

static void copy_body(struct input *input)
{
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

VALUE bbr_input_keep(VALUE self)
{
    struct input *input = bbr_input_of(self);
    if (input->ended) return self;
    if (input->unbuffered) return move_unbuffered(input);
    copy_body(input);
    return self;
}

void bbr_input_follow(VALUE self, const struct bbr_body_source *source, VALUE from)
{
    struct input *input = bbr_input_of(self);
    if (!input->unbuffered || input->ended) return;
    RB_OBJ_WRITE(self, &input->from, from);
    input->source = source;
    input->exchange = NULL;
}

struct input *bbr_input_readable(VALUE self)
{
    struct input *input = bbr_input_of(self);
    if (input->ended) rb_raise(rb_eIOError, "rack.input: %s", input->ended);
    return input;
}

/* ---- bytes ---- */

void bbr_input_copy_out(const struct input *input, uint64_t offset, char *into, size_t len)
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

struct bb_slice bbr_input_ahead(struct input *input)
{
    if (input->unbuffered) return bbr_input_received(input);
    if (bbr_input_left(input) == 0) return (struct bb_slice){"", 0};
    if (input->memory)
        return (struct bb_slice){input->memory + input->position, (size_t)bbr_input_left(input)};
    uint64_t skip = input->position - input->window_start;
    if (input->position < input->window_start || skip >= input->window_len) {
        if (!input->window) input->window = ALLOC_N(char, WINDOW);
        input->window_len = 0;
        size_t len = bbr_input_at_most(bbr_input_left(input), WINDOW);
        bbr_input_copy_out(input, input->position, input->window, len);
        input->window_start = input->position;
        input->window_len = len;
        skip = 0;
    }
    return (struct bb_slice){input->window + skip, input->window_len - (size_t)skip};
}

/* ---- the position ---- */

/* The empty Input, which requests without a body share, stays at position 0. */
static void move_to(struct input *input, uint64_t position)
{
    if (input->unbuffered) {
        input->moved = position != input->position;
        input->moved_to = position;
    } else if (input->size > 0) {
        input->position = position;
    }
}

static uint64_t position_of(const struct input *input)
{
    return input->moved ? input->moved_to : input->position;
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
        start = (int64_t)position_of(input);
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
    move_to(input, 0);
    input->lineno = 0;
    return INT2FIX(0);
}

static VALUE input_pos(VALUE self)
{
    return ULL2NUM(position_of(bbr_input_readable(self)));
}

static VALUE input_is_eof(VALUE self)
{
    return bbr_input_ahead(bbr_input_readable(self)).len == 0 ? Qtrue : Qfalse;
}

/* nil: the client has not told the size of an unbuffered body. */
static VALUE input_size(VALUE self)
{
    const struct input *input = bbr_input_of(self);
    return input->unbuffered && !input->has_size ? Qnil : ULL2NUM(input->size);
}

static VALUE input_close(VALUE self)
{
    struct input *input = bbr_input_of(self);
    if ((input->size > 0 || input->unbuffered) && !input->ended) end(input, "closed");
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
    rb_define_alias(input_class, "isatty", "tty?");
    rb_define_alias(input_class, "sync", "binmode?");
}
