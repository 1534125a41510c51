/* rb_input_receive.c: rack.input of an unbuffered body (unbuffered_bodies). The bytes come from the client
 * while the application reads. See rb_input.h. */
#include "request/rb_input.h"

#include <errno.h>
#include <ruby/io.h>

/* ---- the lane is the source: a thread that serves requests ---- */

static void *wait_as_lane(void *lane)
{
    bb_request_wait(lane);
    return NULL;
}

static VALUE wait_elsewhere(VALUE fd)
{
    bbr_wait_for_descriptor(NUM2INT(fd), RB_WAITFD_IN, NULL, NULL);
    return Qnil;
}

/* If the request ends during the wait, the descriptor is closed. The next read raises. Any other exception
 * comes from Thread#raise. */
static VALUE ignore_late_error(VALUE input, VALUE error)
{
    if (((const struct input *)input)->exchange) rb_exc_raise(error);
    return Qnil;
}

static void await_client(const struct input *input)
{
    const struct bbr_exchange *exchange = input->exchange;
    struct bb_lane *lane = exchange->lane->core;
    int fd = bb_request_fd(lane);
    if (exchange->thread == rb_thread_current())
        bbr_wait_for_descriptor(fd, RB_WAITFD_IN, wait_as_lane, lane);
    else
        rb_rescue2(wait_elsewhere, INT2NUM(fd), ignore_late_error, (VALUE)input, rb_eSystemCallError,
                   rb_eIOError, (VALUE)0);
}

/* ---- any source ---- */

static int read_once(const struct input *input, char *bytes, size_t len, size_t *got)
{
    if (input->ended) rb_raise(rb_eIOError, "rack.input: %s", input->ended);
    if (input->source) return input->source->read(input->from, bytes, len, got);
    return bb_request_read(input->exchange->lane->core, bytes, len, got);
}

static void await(const struct input *input)
{
    if (input->source)
        input->source->await(input->from);
    else
        await_client(input);
}

NORETURN(static void fail(const struct input *input, int code));
static void fail(const struct input *input, int code)
{
    if (code == BB_EGONE && input->exchange) input->exchange->gone = true;
    bbr_raise(code);
}

int bbr_input_try_receive(struct input *input)
{
    size_t got;
    if (input->moved) rb_syserr_fail(ESPIPE, "rack.input: the body is not buffered (unbuffered_bodies)");
    if (bbr_input_window(input).len > 0) return BB_OK;
    if (input->complete) return BB_EOF;
    if (!input->window) input->window = ALLOC_N(char, BBR_RECEIVE_WINDOW);
    int code = read_once(input, input->window, BBR_RECEIVE_WINDOW, &got);
    if (code < 0) fail(input, code);
    input->complete = code == BB_EOF;
    if (code != BB_OK) return code;
    input->window_start = input->position;
    input->window_len = got;
    return BB_OK;
}

/* While this thread waits, another thread may read the same bytes. So each round begins again. */
struct bb_slice bbr_input_received(struct input *input)
{
    int code;
    while ((code = bbr_input_try_receive(input)) == BB_AGAIN) await(input);
    return bbr_input_window(input); /* empty after BB_EOF */
}

/* During each wait, another thread may change the String or freeze it. The position moves only past bytes
 * that the String has got. */
VALUE bbr_input_take_received(struct input *input, VALUE string, long wanted, bool partial)
{
    while (RSTRING_LEN(string) < wanted) {
        struct bb_slice bytes = bbr_input_received(input);
        long missing = wanted - RSTRING_LEN(string);
        if (bytes.len == 0 || missing <= 0) break;
        bytes.len = bbr_input_at_most(bytes.len, (size_t)missing);
        rb_str_cat(string, bytes.at, (long)bytes.len);
        input->position += bytes.len;
        if (partial) break;
    }
    return string;
}
