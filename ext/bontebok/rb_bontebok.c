/* rb_bontebok.c: where Ruby enters: the module Bontebok::Core, its settings and exceptions, and the bridge
 * from the core's codes to them. */
#include "rb_bontebok.h"

#include <errno.h>
#include <ruby/encoding.h>

VALUE bbr_eInvalidReply, bbr_eClientGone;

void bbr_raise(int code)
{
    switch (code) {
    case BB_ENOMEM:
        rb_memerror();
    case BB_ESYSTEM:
        rb_sys_fail("bontebok");
    case BB_EFORMAT:
        rb_raise(rb_eArgError, "bontebok: %s", bb_code_text(code));
    case BB_EGONE:
        rb_raise(bbr_eClientGone, "%s", bb_code_text(code));
    default:
        rb_raise(rb_eRuntimeError, "bontebok: %s", bb_code_text(code));
    }
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

static VALUE settings_hash(void)
{
    VALUE settings = rb_hash_new();
#define ADD_SETTING(name, default_value)                                                                     \
    rb_hash_aset(settings, ID2SYM(rb_intern(#name)), ULL2NUM((uint64_t)(default_value)));
    BB_SETTINGS(ADD_SETTING)
#undef ADD_SETTING
    return rb_obj_freeze(settings);
}

RUBY_FUNC_EXPORTED void Init_bontebok(void)
{
    VALUE bontebok = rb_define_module("Bontebok");
    VALUE core = rb_define_module_under(bontebok, "Core");

    rb_define_const(core, "SETTINGS", settings_hash());
    bbr_eInvalidReply = rb_define_class_under(core, "InvalidReply", rb_eStandardError);
    bbr_eClientGone = rb_define_class_under(core, "ClientGone", rb_eIOError);
    rb_gc_register_address(&bbr_eInvalidReply);
    rb_gc_register_address(&bbr_eClientGone);

    bbr_init_env();
    bbr_init_reply();
    bbr_init_error();
    bbr_init_input(core);
    bbr_init_stream(core);
    bbr_init_board(core);
    bbr_init_worker(core);
    bbr_init_lane(core);
    bbr_init_time(bontebok, core);
    bbr_init_process(core);
}
