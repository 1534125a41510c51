/* rb_failed.c: the response that the client gets when the application fails. rb_serve.c uses it. */
#include "rb_bontebok.h"

static ID id_full_message;
static VALUE plain_500, plain_504, full_message_options;

struct failure {
    struct bbr_exchange *exchange;
    VALUE error;
    int status;
    VALUE response; /* a String: the body; an Array: a triplet */
};

static VALUE backtrace_text(VALUE argument)
{
    struct failure *failure = (struct failure *)argument;
    VALUE text = rb_funcallv_kw(failure->error, id_full_message, 1, &full_message_options, RB_PASS_KEYWORDS);
    return failure->response = rb_obj_as_string(text);
}

static VALUE answer_failure(VALUE argument)
{
    struct failure *failure = (struct failure *)argument;
    if (RB_TYPE_P(failure->response, T_STRING))
        bbr_reply_text(failure->exchange, failure->status, failure->response);
    else
        bbr_reply(failure->exchange, failure->response);
    return Qnil;
}

/* An exchange (a request and its response) has room for only one body that must still be closed. So a triplet
 * is sent only if the exchange has no such body. */
static bool may_respond(const struct bbr_exchange *exchange, VALUE response)
{
    return RB_TYPE_P(response, T_STRING) || (RB_TYPE_P(response, T_ARRAY) && exchange->body == Qundef);
}

/* True: the client is gone, and the application has not failed. */
static bool is_gone(const struct bbr_exchange *exchange, VALUE error)
{
    return exchange->gone && RTEST(rb_obj_is_kind_of(error, bbr_eClientGone));
}

/* The body has failed, and its `close` must not write. */
static void stop_body(struct bbr_exchange *exchange)
{
    if (!NIL_P(exchange->each)) bbr_each_detach(exchange->each);
    if (!NIL_P(exchange->stream)) bbr_stream_abort(exchange->stream);
}

/* False: no complete response was sent. */
static bool send_failure(struct failure *failure, const char *blamed)
{
    struct bbr_exchange *exchange = failure->exchange;
    VALUE error = bbr_attempt(answer_failure, (VALUE)failure);
    if (!NIL_P(error)) bbr_leave_if_child(exchange, error);
    exchange->broken = !NIL_P(error);
    if (exchange->broken) stop_body(exchange);
    if (exchange->broken && blamed && !is_gone(exchange, error)) bbr_log_failure(exchange, blamed, error);
    return !exchange->broken;
}

void bbr_failed(struct bbr_exchange *exchange, VALUE error)
{
    bbr_leave_if_child(exchange, error);
    exchange->broken = true;
    exchange->error = error;
    stop_body(exchange);
    /* The core responds to a bad body, for example with 413. */
    if (is_gone(exchange, error) || RTEST(rb_obj_is_kind_of(error, bbr_eBadBody))) return;
    VALUE response = bbr_tell_failure(exchange, error);
    bool over = exchange->gone || bb_reply_sent(exchange->lane->core);
    bool given = !over && may_respond(exchange, response);
    if (!given) bbr_drop_response(exchange, response);
    if (over) return;

    bool timeout = bbr_is_timeout(exchange, error);
    VALUE plain = timeout ? plain_504 : plain_500;
    struct failure failure = {exchange, error, timeout ? 504 : 500, plain};
    if (given)
        failure.response = response;
    else if (exchange->lane->show_errors)
        (void)bbr_attempt(backtrace_text, (VALUE)&failure);
    if (send_failure(&failure, given ? ": cannot send the response of on_error" : NULL)) return;
    if (bb_reply_sent(exchange->lane->core)) return;
    failure.response = plain;
    (void)send_failure(&failure, NULL);
}

void bbr_init_failed(void)
{
    id_full_message = rb_intern("full_message");
    plain_500 = bbr_keep(bbr_fixed(rb_str_new_cstr("500 Internal Server Error\n")));
    plain_504 = bbr_keep(bbr_fixed(rb_str_new_cstr("504 Gateway Timeout\n")));
    full_message_options = bbr_keep(rb_hash_new());
    rb_hash_aset(full_message_options, ID2SYM(rb_intern("highlight")), Qfalse);
}
