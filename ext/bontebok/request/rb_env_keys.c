/* rb_env_keys.c: the keys that the binding itself sets, and the part of an env that the log shows. rb_env.c
 * builds the env. */
#include "rb_bontebok.h"

#include <string.h>

VALUE bbr_env_keys[BBR_ENV_KEYS];
VALUE bbr_empty;

static VALUE script_name;

struct bb_slice bbr_env_port(const struct bb_head *head)
{
    static const struct bb_slice default_port = {"80", 2};
    return head->port.len > 0 ? head->port : default_port;
}

/* ---- the log ---- */

static void append_text(VALUE text, VALUE env, VALUE key)
{
    VALUE value = RB_TYPE_P(env, T_HASH) ? rb_hash_lookup(env, key) : Qnil;
    if (!RB_TYPE_P(value, T_STRING)) return;
    rb_str_cat(text, RSTRING_PTR(value), RSTRING_LEN(value));
    RB_GC_GUARD(value);
}

/* The label comes from the env, because the request may have ended before the failure is logged. */
VALUE bbr_env_label(VALUE env)
{
    VALUE text = rb_str_new(NULL, 0);
    append_text(text, env, bbr_env_keys[BBR_REQUEST_METHOD]);
    rb_str_cat_cstr(text, " ");
    append_text(text, env, script_name);
    append_text(text, env, bbr_env_keys[BBR_PATH_INFO]);
    return text;
}

static VALUE kept_key(const char *name)
{
    return bbr_keep(bbr_key(name, strlen(name)));
}

void bbr_init_env_keys(void)
{
    static const char *const names[BBR_ENV_KEYS] = {
        [BBR_REQUEST_METHOD] = "REQUEST_METHOD",   [BBR_PATH_INFO] = "PATH_INFO",
        [BBR_QUERY_STRING] = "QUERY_STRING",       [BBR_REQUEST_URI] = "REQUEST_URI",
        [BBR_SERVER_NAME] = "SERVER_NAME",         [BBR_SERVER_PORT] = "SERVER_PORT",
        [BBR_SERVER_PROTOCOL] = "SERVER_PROTOCOL", [BBR_REMOTE_ADDR] = "REMOTE_ADDR",
        [BBR_CONTENT_LENGTH] = "CONTENT_LENGTH",   [BBR_HTTP_VERSION] = "HTTP_VERSION",
        [BBR_CONTENT_TYPE] = "CONTENT_TYPE",       [BBR_RACK_INPUT] = "rack.input",
        [BBR_PROTOCOL] = "rack.protocol",          [BBR_HIJACK_IO] = "rack.hijack_io",
        [BBR_AFTER_REPLY] = "rack.after_reply",    [BBR_RESPONSE_FINISHED] = "rack.response_finished",
        [BBR_QUEUE_TIME] = "bontebok.queue_time",  [BBR_PROXY_TIME] = "bontebok.proxy_queue_time",
    };
    for (int i = 0; i < BBR_ENV_KEYS; i++) bbr_env_keys[i] = kept_key(names[i]);
    script_name = kept_key("SCRIPT_NAME");
    bbr_empty = bbr_keep(bbr_fixed(rb_str_new(NULL, 0)));
}
