/* rb_hijack.c: hijacking (SPEC of Rack). The application gets the client's socket as a Ruby Socket, and the
 * core forgets the connection. In a full hijack the application asks for the socket (rb_lane_calls.c). In a
 * partial hijack the response has a field rack.hijack: the server sends the head, and the field's value gets
 * the socket. */
#include "rb_bontebok.h"

#include <unistd.h>

static ID id_call, id_close, id_for_fd, id_setsockopt, id_ungetbyte;

/* ---- the socket ---- */

struct taken {
    struct bbr_exchange *exchange;
    int fd;
    struct bb_slice unread;
    VALUE socket;
    bool reported;
};

static VALUE make_socket(VALUE argument)
{
    struct taken *taken = (struct taken *)argument;
    const struct bbr_exchange *exchange = taken->exchange;
    VALUE unread = rb_str_new(NULL, 0);
    if (!NIL_P(exchange->input)) {
        struct bb_slice received = bbr_input_hand_over(exchange->input);
        rb_str_cat(unread, received.at, (long)received.len);
    }
    rb_str_cat(unread, taken->unread.at, (long)taken->unread.len);
    /* peer_is_unix is about the client. The class must fit the descriptor. */
    bool is_unix = exchange->lane->endpoints[exchange->request->listener].unix_socket;
    VALUE class = rb_path2class(is_unix ? "UNIXSocket" : "TCPSocket");
    VALUE socket = rb_funcall(class, id_for_fd, 1, INT2NUM(taken->fd));
    taken->fd = -1; /* the socket owns it */
    if (RSTRING_LEN(unread) > 0) rb_funcall(socket, id_ungetbyte, 1, unread);
    return socket;
}

static VALUE close_descriptor(VALUE argument)
{
    const struct taken *taken = (struct taken *)argument;
    if (taken->fd >= 0) (void)close(taken->fd);
    return Qnil;
}

/* Closes the socket so that the client sees an error (RST), not the end of the response. */
static VALUE reset_socket(VALUE socket)
{
    static const struct {
        int on, seconds;
    } at_once = {1, 0};
    VALUE linger = rb_str_new((const char *)&at_once, sizeof at_once);
    rb_funcall(socket, id_setsockopt, 3, ID2SYM(rb_intern("SOCKET")), ID2SYM(rb_intern("LINGER")), linger);
    return rb_funcall(socket, id_close, 0);
}

/* In a forked process the socket belongs to the parent, and the option would reset the parent's
 * connection. */
static void reset_own(const struct bbr_lane *lane, VALUE socket)
{
    if (!bbr_lane_is_child(lane)) (void)bbr_attempt(reset_socket, socket);
}

static VALUE report_socket(VALUE argument)
{
    struct taken *taken = (struct taken *)argument;
    bbr_report(taken->exchange, "detached", Qnil, taken->socket);
    taken->reported = true;
    return Qnil;
}

/* The thread was killed in the report, so the application never gets the socket. */
static VALUE reset_unless_reported(VALUE argument)
{
    const struct taken *taken = (const struct taken *)argument;
    if (!taken->reported) reset_own(taken->exchange->lane, taken->socket);
    return Qnil;
}

VALUE bbr_hijack_socket(struct bbr_exchange *exchange)
{
    struct taken taken = {.exchange = exchange, .fd = -1, .socket = Qnil};
    int code;
    while ((code = bb_lane_hijack(exchange->lane->core, &taken.fd, &taken.unread)) == BB_AGAIN)
        bbr_reply_check(exchange, bbr_wait(exchange->lane, bb_reply_wait_until_sent));
    bbr_reply_check(exchange, code);
    exchange->detached = exchange->hijacked = true;
    taken.socket = rb_ensure(make_socket, (VALUE)&taken, close_descriptor, (VALUE)&taken);
    (void)rb_ensure(report_socket, (VALUE)&taken, reset_unless_reported, (VALUE)&taken);
    return taken.socket;
}

/* ---- partial hijack ---- */

struct partial {
    const struct bbr_lane *lane;
    VALUE callable, socket;
    bool done;
};

static VALUE call_with_socket(VALUE argument)
{
    struct partial *partial = (struct partial *)argument;
    rb_funcall(partial->callable, id_call, 1, partial->socket);
    partial->done = true;
    return Qnil;
}

/* After an exception, a kill of the thread or a throw. */
static VALUE reset_unless_done(VALUE argument)
{
    const struct partial *partial = (const struct partial *)argument;
    if (!partial->done) reset_own(partial->lane, partial->socket);
    return Qnil;
}

/* The application closes the socket, perhaps later and in another thread. */
void bbr_hijack_reply(struct bbr_exchange *exchange, VALUE callable)
{
    bbr_reply_check(exchange, bb_reply_head(exchange->lane->core, BB_LENGTH_RAW));
    bool wanted = !bb_reply_bodyless(exchange->lane->core);
    bbr_reply_flush(exchange, !wanted);
    if (!wanted) return;
    struct partial partial = {exchange->lane, callable, bbr_hijack_socket(exchange), false};
    rb_ensure(call_with_socket, (VALUE)&partial, reset_unless_done, (VALUE)&partial);
    bbr_lane_leave_if_child(exchange->lane);
}

void bbr_init_hijack(void)
{
    id_call = rb_intern("call");
    id_close = rb_intern("close");
    id_for_fd = rb_intern("for_fd");
    id_setsockopt = rb_intern("setsockopt");
    id_ungetbyte = rb_intern("ungetbyte");
}
