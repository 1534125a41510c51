/* rb_settings.c: turns a Hash of settings into the core's struct. rb_worker.c uses it. */
#include "rb_bontebok.h"

#include <string.h>

static uint64_t setting_value(VALUE name, VALUE value)
{
    if (value == Qtrue) return 1;
    if (value == Qfalse) return 0;
    if (!RB_INTEGER_TYPE_P(value) || RTEST(rb_funcall(value, rb_intern("negative?"), 0)))
        rb_raise(rb_eArgError, "%" PRIsVALUE " must be an Integer from 0 on, not %+" PRIsVALUE, name, value);
    return NUM2ULL(value);
}

static void set_text(char *text, size_t size, VALUE name, VALUE value)
{
    Check_Type(value, T_STRING);
    const char *bytes = StringValueCStr(value);
    if (strlen(bytes) >= size)
        rb_raise(rb_eArgError, "%" PRIsVALUE " is longer than %zu bytes", name, size - 1);
    memcpy(text, bytes, strlen(bytes) + 1);
}

static int set_setting(VALUE name, VALUE value, VALUE argument)
{
    struct bb_settings *settings = (struct bb_settings *)argument;
    Check_Type(name, T_SYMBOL);
    const char *wanted = rb_id2name(rb_sym2id(name));

#define SET_IF_NAMED(setting, default_value)                                                                 \
    if (strcmp(wanted, #setting) == 0) {                                                                     \
        settings->setting = setting_value(name, value);                                                      \
        return ST_CONTINUE;                                                                                  \
    }
    BB_SETTINGS(SET_IF_NAMED)
#undef SET_IF_NAMED
    if (strcmp(wanted, "spool_dir") == 0)
        set_text(settings->spool_dir, sizeof settings->spool_dir, name, value);
    else if (strcmp(wanted, "server_name") == 0)
        set_text(settings->server_name, sizeof settings->server_name, name, value);
    else if (strcmp(wanted, "trusted_proxies") == 0)
        set_text(settings->trusted_proxies, sizeof settings->trusted_proxies, name, value);
    else if (strcmp(wanted, "access_log") == 0)
        set_text(settings->access_log, sizeof settings->access_log, name, value);
    else if (strcmp(wanted, "access_log_format") == 0)
        set_text(settings->access_log_format, sizeof settings->access_log_format, name, value);
    else if (strcmp(wanted, "health_paths") == 0)
        set_text(settings->health_paths, sizeof settings->health_paths, name, value);
    else if (strcmp(wanted, "ready_path") == 0)
        set_text(settings->ready_path, sizeof settings->ready_path, name, value);
    else if (strcmp(wanted, "live_path") == 0)
        set_text(settings->live_path, sizeof settings->live_path, name, value);
    else if (strcmp(wanted, "unbuffered_bodies") == 0)
        set_text(settings->unbuffered_bodies, sizeof settings->unbuffered_bodies, name, value);
    else if (strcmp(wanted, "x_sendfile") == 0)
        set_text(settings->x_sendfile, sizeof settings->x_sendfile, name, value);
    else
        rb_raise(rb_eArgError, "unknown setting: %" PRIsVALUE, name);
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
