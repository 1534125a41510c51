/* rb_env.c: builds the Rack environment of a request (SPEC of Rack 2.2 and 3). The env is a copy of the
 * listener's template, into which the values of the request are stored. Each of these values is a new String,
 * binary and unfrozen. A value that is the same for every request is one frozen String. If the option
 * frozen_env is set, rb_env_shape.c makes most of the env.
 *
 * Most of a request's cost is the objects and Hash stores in this file. Think twice before you add another
 * object or Hash store.
 */
#include "rb_bontebok.h"

#include <inttypes.h>
#include <stdio.h>

static VALUE http_1_0, http_1_1, unix_peer;

static void set(VALUE env, enum bbr_env_key key, VALUE value)
{
    rb_hash_aset(env, bbr_env_keys[key], value);
}

/* ---- the template ---- */

static int copy_into_template(VALUE key, VALUE value, VALUE template)
{
    /* Rack requires binary values. The Strings of the base env may have the encoding of their source file. */
    rb_hash_aset(template, key, RB_TYPE_P(value, T_STRING) ? bbr_fixed(value) : value);
    return ST_CONTINUE;
}

/* The template already has the keys that every request sets, so that all envs have the same order of keys.
 * Replacing a value costs no more than adding a key. */
VALUE bbr_env_template(VALUE base, const struct bbr_endpoint *endpoint, VALUE no_input)
{
    VALUE template = rb_hash_new();
    set(template, BBR_REQUEST_METHOD, bbr_empty);
    set(template, BBR_PATH_INFO, bbr_empty);
    set(template, BBR_QUERY_STRING, bbr_empty);
    set(template, BBR_REQUEST_URI, bbr_empty);
    rb_hash_foreach(base, copy_into_template, template);
    set(template, BBR_SERVER_PROTOCOL, http_1_1);
    set(template, BBR_SERVER_NAME, endpoint->name);
    set(template, BBR_SERVER_PORT, endpoint->port);
    set(template, BBR_REMOTE_ADDR, unix_peer);
    set(template, BBR_RACK_INPUT, no_input);
    if (RTEST(rb_hash_aref(template, bbr_env_keys[BBR_HTTP_VERSION])))
        set(template, BBR_HTTP_VERSION, http_1_1);
    return template;
}

/* ---- a request ---- */

static void set_addresses(VALUE env, const struct bb_request *request)
{
    const struct bb_head *head = &request->head;
    if (head->host.len > 0) { /* otherwise the listener's values, from the template, stay */
        set(env, BBR_SERVER_NAME, bbr_string(head->host));
        set(env, BBR_SERVER_PORT, bbr_string(bbr_env_port(head)));
    }
    if (!request->peer_is_unix) set(env, BBR_REMOTE_ADDR, bbr_string(request->peer));
}

/* Appends a value to the earlier value of the same key, RFC 9110 5.3. Cookie has its own separator (RFC 9113
 * 8.2.3). False: the key has no earlier value from this request. */
static bool join(VALUE env, VALUE key, const struct bb_field *field, struct bb_slice value)
{
    VALUE earlier = rb_hash_lookup2(env, key, Qundef);
    if (!RB_TYPE_P(earlier, T_STRING) || OBJ_FROZEN(earlier)) return false; /* no value, or the template's */
    rb_str_cat(earlier, field->kind == BB_FIELD_COOKIE ? "; " : ", ", 2);
    rb_str_cat(earlier, value.at, (long)value.len);
    return true;
}

static void set_fields(VALUE env, struct bbr_exchange *exchange)
{
    const struct bb_head *head = &exchange->request->head;
    for (unsigned i = 0; i < head->field_count; i++) {
        const struct bb_field *field = &head->fields[i];
        VALUE key = bbr_names_key(exchange, field);
        if (NIL_P(key)) continue;
        struct bb_slice value = bbr_field_value(head, field);
        if (head->repeats && join(env, key, field, value)) continue;
        rb_hash_aset(env, key, bbr_string(value));
    }
}

static VALUE env_from_template(struct bbr_exchange *exchange)
{
    const struct bb_request *request = exchange->request;
    const struct bbr_endpoint *endpoint = &exchange->lane->endpoints[request->listener];
    VALUE env = rb_hash_dup(endpoint->template);
    set(env, BBR_REQUEST_METHOD, bbr_string(request->head.method));
    set_addresses(env, request);
    set_fields(env, exchange);
    return env;
}

static void set_target(VALUE env, const struct bb_head *head, const struct bbr_lane *lane)
{
    struct bb_slice path = head->path;
    /* "OPTIONS *": before Rack 3.1 a path begins with a slash, or is empty. */
    if (!lane->asterisk && path.len == 1 && *path.at == '*') path.len = 0;
    set(env, BBR_PATH_INFO, bbr_string(path));
    set(env, BBR_REQUEST_URI, bbr_string(head->target));
    if (head->query.len > 0) set(env, BBR_QUERY_STRING, bbr_string(head->query));
}

static void set_old_protocol(VALUE env, const struct bbr_lane *lane)
{
    set(env, BBR_SERVER_PROTOCOL, http_1_0);
    if (lane->http_version) set(env, BBR_HTTP_VERSION, http_1_0);
}

/* The application reads the decoded body, so the env shows the decoded length, and not the transfer coding.
 */
static void set_decoded_length(VALUE env, const struct bb_request *request)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, request->body_length);
    set(env, BBR_CONTENT_LENGTH, rb_str_new(digits, len));
}

/* The env's value is in milliseconds. The template does not have the key, so the key costs nothing if a
 * request has not waited. */
static void set_time(VALUE env, enum bbr_env_key key, uint64_t microseconds)
{
    if (microseconds > 0) set(env, key, DBL2NUM((double)microseconds / 1000));
}

VALUE bbr_env_build(struct bbr_exchange *exchange)
{
    const struct bb_request *request = exchange->request;
    const struct bbr_lane *lane = exchange->lane;
    VALUE env = lane->shapes ? bbr_shapes_env(exchange) : Qundef;
    if (env == Qundef) env = env_from_template(exchange);
    set_target(env, &request->head, lane);
    if (request->head.minor_version == 0) set_old_protocol(env, lane);
    if (RB_UNLIKELY(request->head.upgrade)) set(env, BBR_PROTOCOL, bbr_protocol_offers(request));
    if (request->head.chunked && !request->unbuffered) set_decoded_length(env, request);
    set_time(env, BBR_QUEUE_TIME, request->queue_time);
    set_time(env, BBR_PROXY_TIME, request->proxy_time);
    if (request->body_length > 0 || request->unbuffered)
        set(env, BBR_RACK_INPUT, exchange->input = bbr_input_new(exchange));
    return env;
}

static VALUE kept_value(const char *text)
{
    return bbr_keep(bbr_fixed(rb_str_new_cstr(text)));
}

void bbr_init_env(void)
{
    http_1_0 = kept_value("HTTP/1.0");
    http_1_1 = kept_value("HTTP/1.1");
    unix_peer = kept_value("127.0.0.1");
}
