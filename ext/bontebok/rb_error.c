/* rb_error.c: handles a failure of the application: logs it, calls on_error, and decides whether this process
 * has to end. rb_failed.c makes the client's response. */
#include "rb_bontebok.h"

static ID id_call, id_close;

/* ---- the log ---- */

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

/* lib (the server's Ruby code) logs the exception's own text. */
void bbr_log_failure(struct bbr_exchange *exchange, const char *text, VALUE error)
{
    struct entry entry = {exchange, text, error};
    (void)bbr_attempt(report_entry, (VALUE)&entry);
}

static bool asks_to_leave(VALUE error)
{
    return RTEST(rb_obj_is_kind_of(error, rb_eSystemExit)) ||
           RTEST(rb_obj_is_kind_of(error, rb_eNoMemError)) || RTEST(rb_obj_is_kind_of(error, rb_eSignal));
}

void bbr_leave_if_child(struct bbr_exchange *exchange, VALUE error)
{
    if (!bbr_lane_is_child(exchange->lane)) return;
    if (!NIL_P(error) && !RTEST(rb_obj_is_kind_of(error, rb_eSystemExit)))
        bbr_log_failure(exchange, "", error);
    bbr_leave_child(bbr_child_status(error));
}

struct question {
    struct bbr_exchange *exchange;
    VALUE error, response;
};

static VALUE call_on_error(VALUE argument)
{
    struct question *question = (struct question *)argument;
    struct bbr_exchange *exchange = question->exchange;
    return question->response =
               rb_funcall(exchange->lane->on_error, id_call, 2, question->error, exchange->env);
}

bool bbr_is_timeout(const struct bbr_exchange *exchange, VALUE error)
{
    return exchange->request && exchange->timed_out && RTEST(rb_obj_is_kind_of(error, bbr_eTimeout));
}

/* A RequestTimeout is not logged here, because lib logs it together with the request's backtrace. */
VALUE bbr_tell_failure(struct bbr_exchange *exchange, VALUE error)
{
    bbr_leave_if_child(exchange, error);
    if (!bbr_is_timeout(exchange, error)) bbr_log_failure(exchange, "", error);
    if (asks_to_leave(error)) bbr_report(exchange, "leave", Qnil, error);
    struct question question = {exchange, error, Qnil};
    if (NIL_P(exchange->lane->on_error)) return Qnil;
    bbr_leave_if_child(exchange, bbr_attempt(call_on_error, (VALUE)&question));
    return question.response;
}

static VALUE close_unsent(VALUE response)
{
    VALUE body = rb_ary_entry(response, 2);
    return rb_respond_to(body, id_close) ? rb_funcallv(body, id_close, 0, NULL) : Qnil;
}

void bbr_drop_response(struct bbr_exchange *exchange, VALUE response)
{
    if (!RB_TYPE_P(response, T_ARRAY)) return;
    VALUE error = bbr_attempt(close_unsent, response);
    bbr_leave_if_child(exchange, error);
    if (!NIL_P(error)) bbr_log_failure(exchange, ": cannot close the unsent response of on_error", error);
}

void bbr_failed_late(struct bbr_exchange *exchange, VALUE error)
{
    bbr_drop_response(exchange, bbr_tell_failure(exchange, error));
}

void bbr_failed_short(struct bbr_exchange *exchange, int code)
{
    if (code != BB_ESHORT && code != BB_ECHUNKS) return;
    char text[128];
    (void)snprintf(text, sizeof text, ": %s", bb_error_text(code));
    bbr_log_failure(exchange, text, Qnil);
}

void bbr_init_error(void)
{
    id_call = rb_intern("call");
    id_close = rb_intern("close");
}
