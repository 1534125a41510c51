/* rb_util.c: helpers for all files of the binding: exceptions, Strings that are kept, calls that may unwind,
 * and reports to lib. */
#include "rb_bontebok.h"

#include <ruby/encoding.h>
#include <string.h>

VALUE bbr_eInvalidReply, bbr_eClientGone, bbr_eBadBody, bbr_eTimeout;

static ID id_call;

void bbr_raise(int code)
{
    switch (code) {
    case BB_ENOMEM:
        rb_memerror();
    case BB_ESYSTEM:
        rb_sys_fail("bontebok");
    case BB_EFORMAT:
    case BB_ELAYOUT:
        rb_raise(rb_eArgError, "bontebok: %s", bb_error_text(code));
    case BB_ESHORT:
    case BB_ECHUNKS:
        rb_raise(bbr_eInvalidReply, "%s", bb_error_text(code));
    case BB_EGONE:
        rb_raise(bbr_eClientGone, "%s", bb_error_text(code));
    case BB_EBODY:
        rb_raise(bbr_eBadBody, "%s", bb_error_text(code));
    default:
        rb_raise(rb_eRuntimeError, "bontebok: %s", bb_error_text(code));
    }
}

long bbr_read_length(VALUE length)
{
    long wanted = NIL_P(length) ? LONG_MAX : NUM2LONG(length);
    if (wanted < 0) rb_raise(rb_eArgError, "negative length %ld given", wanted);
    return wanted;
}

VALUE bbr_fixed(VALUE string)
{
    VALUE fixed = rb_enc_interned_str(RSTRING_PTR(string), RSTRING_LEN(string), rb_ascii8bit_encoding());
    RB_GC_GUARD(string);
    return fixed;
}

VALUE bbr_key(const char *name, size_t len)
{
    return rb_enc_interned_str(name, (long)len, rb_utf8_encoding());
}

VALUE bbr_keep(VALUE object)
{
    rb_gc_register_mark_object(object);
    return object;
}

/* ---- calls that may unwind ---- */

/* After a throw or a kill, rb_errinfo() is an internal value of Ruby and no exception. */
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

/* ---- reports to lib ---- */

static VALUE call_report(VALUE argument)
{
    const VALUE *call = (const VALUE *)argument;
    return rb_funcallv(call[0], id_call, 3, call + 1);
}

void bbr_report_to(VALUE report, const char *level, VALUE message, VALUE error)
{
    VALUE call[] = {report, ID2SYM(rb_intern(level)), message, error};
    (void)bbr_attempt(call_report, (VALUE)call);
}

void bbr_report(struct bbr_exchange *exchange, const char *level, VALUE message, VALUE error)
{
    bbr_report_to(exchange->lane->report, level, message, error);
}

VALUE bbr_event_text(const struct bb_event *event)
{
    VALUE text = rb_str_new_cstr(event->peer);
    if (RSTRING_LEN(text) > 0) rb_str_cat_cstr(text, ": ");
    rb_str_cat_cstr(text, event->text);
    if (event->status) rb_str_catf(text, " (%d)", event->status);
    if (event->error) rb_str_catf(text, ": %s", strerror(event->error));
    if (event->left_out) rb_str_catf(text, ", and %u more like it", event->left_out);
    return text;
}

/* As in nginx, the mistakes of clients are no warnings. */
const char *bbr_event_level(const struct bb_event *event)
{
    return event->by_client ? "info" : "warn";
}

void bbr_init_util(VALUE bontebok, VALUE core)
{
    id_call = rb_intern("call");
    bbr_eInvalidReply = rb_define_class_under(core, "InvalidReply", rb_eStandardError);
    bbr_eClientGone = rb_define_class_under(bontebok, "ClientGone", rb_eIOError);
    rb_define_const(core, "ClientGone", bbr_eClientGone);
    bbr_eBadBody = rb_define_class_under(bontebok, "BadBody", rb_eIOError);
    /* lib/bontebok/request_timeout.rb documents this class, and may have defined it already. */
    bbr_eTimeout = rb_define_class_under(bontebok, "RequestTimeout", rb_eException);
    rb_gc_register_address(&bbr_eInvalidReply);
    rb_gc_register_address(&bbr_eClientGone);
    rb_gc_register_address(&bbr_eBadBody);
    rb_gc_register_address(&bbr_eTimeout);
}
