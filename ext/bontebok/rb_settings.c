/* rb_settings.c: turns a Hash of settings into the core's struct. rb_worker.c uses it. */
#include "rb_bontebok.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t number_of(VALUE name, VALUE value)
{
    if (value == Qtrue) return 1;
    if (value == Qfalse) return 0;
    if (!RB_INTEGER_TYPE_P(value) || RTEST(rb_funcall(value, rb_intern("negative?"), 0)))
        rb_raise(rb_eArgError, "%" PRIsVALUE " must be an Integer from 0 on, not %+" PRIsVALUE, name, value);
    return NUM2ULL(value);
}

/* Ruby's times are in ms. */
static int set_setting(VALUE name, VALUE value, VALUE settings)
{
    Check_Type(name, T_SYMBOL);
    const char *wanted = rb_id2name(rb_sym2id(name)), *text;
    enum bb_setting_kind kind = bb_settings_kind(wanted);
    char number[24], fault[BB_FAULT_MAX];
    if (kind == BB_SETTING_TEXT) {
        Check_Type(value, T_STRING);
        text = StringValueCStr(value);
    } else {
        uint64_t given = kind == BB_SETTING_UNKNOWN ? 0 : number_of(name, value);
        (void)snprintf(number, sizeof number, "%" PRIu64 "%s", given, kind == BB_SETTING_TIME ? "ms" : "");
        text = number;
    }
    if (bb_settings_set((struct bb_settings *)settings, wanted, text, fault) != BB_OK)
        rb_raise(rb_eArgError, "%" PRIsVALUE " %s", name, fault);
    return ST_CONTINUE;
}

struct bb_settings bbr_settings_of(VALUE given)
{
    struct bb_settings settings;
    bb_settings_init(&settings);
    if (!NIL_P(given)) {
        Check_Type(given, T_HASH);
        rb_hash_foreach(given, set_setting, (VALUE)&settings);
    }
    return settings;
}
