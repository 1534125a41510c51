/* rb_error.c: what happens when the application fails: how far it may unwind, what is logged, what the client
 * gets, and whether this process goes on. Used by the serve loop. */
#include "rb_bontebok.h"

#include <ruby/io.h>
#include <stdlib.h>
#include <unistd.h>

static ID id_call, id_close, id_full_message, id_status;
static VALUE plain_500, plain_504, full_message_options;

/* ---- how far it may unwind ---- */

/* After a throw or a kill $! is none of Ruby's objects. */
static bool is_exception(VALUE object)
{
    return !RB_SPECIAL_CONST_P(object) && RB_BUILTIN_TYPE(object) != RUBY_T_IMEMO &&
           RTEST(rb_obj_is_kind_of(object, rb_eException));
}

VALUE bbr_attempt(VALUE (*function)(VALUE), VALUE argument)
{
    int state;
    (void)rb_protect(function, argument, &state);
    if (RB_LIKELY(state == 0)) return Qnil;
    VALUE error = rb_errinfo();
    if (!is_exception(error)) rb_jump_tag(state);
    rb_set_errinfo(Qnil);
    return error;
}

/* ---- what is logged ---- */

static VALUE call_report(VALUE argument)
{
    const VALUE *call = (const VALUE *)argument;
    return rb_funcallv(call[0], id_call, 3, call + 1);
}

void bbr_report(struct bbr_exchange *exchange, const char *level, VALUE message, VALUE error)
{
    VALUE call[] = {exchange->lane->report, ID2SYM(rb_intern(level)), message, error};
    (void)bbr_attempt(call_report, (VALUE)call);
}

struct entry {
    struct bbr_exchange *exchange;
    const char *text; /* follows the request's method and path */
    VALUE error;
};

static VALUE report_entry(VALUE argument)
{
    const struct entry *entry = (const struct entry *)argument;
    VALUE env = entry->exchange->env;
    VALUE message = NIL_P(env) ? rb_str_new_cstr("outside of a request") : bbr_env_label(env);
    rb_str_cat_cstr(message, entry->text);
    bbr_report(entry->exchange, "error", message, entry->error);
    return Qnil;
}

/* An exception speaks for itself: lib reads it. */
static void log_failure(struct bbr_exchange *exchange, const char *text, VALUE error)
{
    struct entry entry = {exchange, text, error};
    (void)bbr_attempt(report_entry, (VALUE)&entry);
}

static bool asks_to_leave(VALUE error)
{
    return RTEST(rb_obj_is_kind_of(error, rb_eSystemExit)) ||
           RTEST(rb_obj_is_kind_of(error, rb_eNoMemError)) || RTEST(rb_obj_is_kind_of(error, rb_eSignal));
}

static VALUE flush(RB_BLOCK_CALL_FUNC_ARGLIST(io, data))
{
    (void)bbr_attempt(rb_io_flush, io); /* it may be closed, or have no reader any more */
    return Qnil;
}

static VALUE flush_all(VALUE space)
{
    return rb_block_call(space, rb_intern("each_object"), 1, &rb_cIO, flush, Qnil);
}

void bbr_leave_child(int status)
{
    (void)bbr_attempt(flush_all, rb_const_get(rb_cObject, rb_intern("ObjectSpace")));
    _exit(status); /* the exit handlers are the server's */
}

/* In a process that the application has forked and that left its code this way: exit() means that process
 * alone, and goes by its status. The exit handlers are the server's. */
NORETURN(static void leave_failed_child(struct bbr_exchange *exchange, VALUE error));
static void leave_failed_child(struct bbr_exchange *exchange, VALUE error)
{
    if (RTEST(rb_obj_is_kind_of(error, rb_eSystemExit)))
        bbr_leave_child(NUM2INT(rb_funcallv(error, id_status, 0, NULL)));
    log_failure(exchange, "", error);
    bbr_leave_child(EXIT_FAILURE);
}

struct question {
    struct bbr_exchange *exchange;
    VALUE error, answer;
};

static VALUE call_on_error(VALUE argument)
{
    struct question *question = (struct question *)argument;
    struct bbr_exchange *exchange = question->exchange;
    return question->answer =
               rb_funcall(exchange->lane->on_error, id_call, 2, question->error, exchange->env);
}

/* Whoever has raised it has told where the request was. */
static bool is_timeout(const struct bbr_exchange *exchange, VALUE error)
{
    return exchange->request && exchange->timed_out && RTEST(rb_obj_is_kind_of(error, bbr_eTimeout));
}

/* Returns what on_error does. */
static VALUE tell_failure(struct bbr_exchange *exchange, VALUE error)
{
    if (bbr_lane_is_child(exchange->lane)) leave_failed_child(exchange, error);
    if (!is_timeout(exchange, error)) log_failure(exchange, "", error);
    if (asks_to_leave(error)) bbr_report(exchange, "leave", Qnil, error);
    struct question question = {exchange, error, Qnil};
    if (!NIL_P(exchange->lane->on_error)) (void)bbr_attempt(call_on_error, (VALUE)&question);
    return question.answer;
}

static VALUE close_unsent(VALUE answer)
{
    VALUE body = rb_ary_entry(answer, 2);
    return rb_respond_to(body, id_close) ? rb_funcallv(body, id_close, 0, NULL) : Qnil;
}

/* The server does not send this answer of on_error, so it closes the body here. */
static void drop_answer(struct bbr_exchange *exchange, VALUE answer)
{
    if (!RB_TYPE_P(answer, T_ARRAY)) return;
    VALUE error = bbr_attempt(close_unsent, answer);
    if (!NIL_P(error)) log_failure(exchange, ": the answer of on_error", error);
}

void bbr_failed_late(struct bbr_exchange *exchange, VALUE error)
{
    drop_answer(exchange, tell_failure(exchange, error));
}

void bbr_failed_short(struct bbr_exchange *exchange)
{
    log_failure(exchange, ": the body is shorter than its Content-Length", Qnil);
}

/* ---- what the client gets ---- */

struct failure {
    struct bbr_exchange *exchange;
    VALUE error;
    int status;
    VALUE answer; /* the body, or all of it as an application would return it */
};

static VALUE backtrace_text(VALUE argument)
{
    struct failure *failure = (struct failure *)argument;
    VALUE text = rb_funcallv_kw(failure->error, id_full_message, 1, &full_message_options, RB_PASS_KEYWORDS);
    return failure->answer = rb_obj_as_string(text);
}

static VALUE answer_failure(VALUE argument)
{
    struct failure *failure = (struct failure *)argument;
    if (RB_TYPE_P(failure->answer, T_STRING))
        bbr_reply_text(failure->exchange, failure->status, failure->answer);
    else
        bbr_reply(failure->exchange, failure->answer);
    return Qnil;
}

/* A whole answer's body may have to be closed: not while the close of the one that failed is still owed. */
static bool may_answer(const struct bbr_exchange *exchange, VALUE answer)
{
    return RB_TYPE_P(answer, T_STRING) || (RB_TYPE_P(answer, T_ARRAY) && exchange->body == Qundef);
}

/* No fault of the application. */
static bool is_gone(const struct bbr_exchange *exchange, VALUE error)
{
    return exchange->gone && RTEST(rb_obj_is_kind_of(error, bbr_eClientGone));
}

/* False: nothing was sent, or not all of it. */
static bool send_failure(struct failure *failure, const char *blamed)
{
    struct bbr_exchange *exchange = failure->exchange;
    VALUE error = bbr_attempt(answer_failure, (VALUE)failure);
    exchange->broken = !NIL_P(error);
    if (exchange->broken && blamed && !is_gone(exchange, error)) log_failure(exchange, blamed, error);
    return !exchange->broken;
}

void bbr_failed(struct bbr_exchange *exchange, VALUE error)
{
    exchange->broken = true;
    if (!NIL_P(exchange->stream)) bbr_stream_detach(exchange->stream); /* a body may write in its close */
    if (is_gone(exchange, error)) return;
    VALUE answer = tell_failure(exchange, error);
    bool over = exchange->gone || bb_reply_sent(exchange->lane->core);
    bool given = !over && may_answer(exchange, answer);
    if (!given) drop_answer(exchange, answer);
    if (over) return;

    bool timeout = is_timeout(exchange, error);
    VALUE plain = timeout ? plain_504 : plain_500;
    struct failure failure = {exchange, error, timeout ? 504 : 500, plain};
    if (given)
        failure.answer = answer;
    else if (exchange->lane->show_errors)
        (void)bbr_attempt(backtrace_text, (VALUE)&failure);
    if (send_failure(&failure, given ? ": the answer of on_error" : NULL)) return;
    if (bb_reply_sent(exchange->lane->core)) return;
    failure.answer = plain;
    (void)send_failure(&failure, NULL);
}

void bbr_init_error(void)
{
    id_call = rb_intern("call");
    id_close = rb_intern("close");
    id_full_message = rb_intern("full_message");
    id_status = rb_intern("status");
    plain_500 = bbr_keep(bbr_fixed(rb_str_new_cstr("500 Internal Server Error\n")));
    plain_504 = bbr_keep(bbr_fixed(rb_str_new_cstr("504 Gateway Timeout\n")));
    full_message_options = bbr_keep(rb_hash_new());
    rb_hash_aset(full_message_options, ID2SYM(rb_intern("highlight")), Qfalse);
}
