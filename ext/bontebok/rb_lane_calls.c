/* rb_lane_calls.c: what the application may call during a request. lib puts Lane#hijack into the env as
 * rack.hijack, and Lane#early_hints as rack.early_hints (SPEC of Rack). A lane is a thread that serves
 * requests. rb_hijack.c takes the socket. */
#include "rb_bontebok.h"

/* Returns the exchange of the calling thread's request. */
static struct bbr_exchange *exchange_of(VALUE self, const char *name)
{
    struct bbr_exchange *exchange = bbr_lane_of(self)->exchange;
    if (!exchange || !exchange->request || exchange->thread != rb_thread_current())
        rb_raise(rb_eIOError, "%s: only the thread that serves a request may call it", name);
    return exchange;
}

/* hijack: takes the connection of the calling thread's request, and returns its socket. A second call returns
 * the same socket. Raises IOError if the response has begun. Raises before it takes the connection if the env
 * takes no key. */
static VALUE lane_hijack(VALUE self)
{
    struct bbr_exchange *exchange = exchange_of(self, "rack.hijack");
    VALUE key = bbr_env_keys[BBR_HIJACK_IO], env = exchange->env;
    if (exchange->detached && !NIL_P(rb_hash_lookup(env, key))) return rb_hash_lookup(env, key);
    if (exchange->detached || bb_reply_sent(exchange->lane->core))
        rb_raise(rb_eIOError, "rack.hijack: the response has begun");
    rb_hash_aset(env, key, Qnil);
    /* If the body hijacks in its `each`, other threads may have the block, and this thread may wait below. */
    if (!NIL_P(exchange->each)) bbr_each_detach(exchange->each);
    VALUE socket = bbr_hijack_socket(exchange);
    rb_hash_aset(env, key, socket);
    RB_GC_GUARD(self);
    return socket;
}

/* early_hints(headers): sends a 103 (RFC 8297) with these fields; nil: there are none. Does nothing once the
 * application has returned its response, because the core may already have the head of the response. */
static VALUE lane_early_hints(VALUE self, VALUE headers)
{
    struct bbr_exchange *exchange = exchange_of(self, "rack.early_hints");
    if (!exchange->detached && NIL_P(exchange->status) && !NIL_P(headers))
        bbr_reply_interim(exchange, 103, headers);
    RB_GC_GUARD(self);
    return Qnil;
}

void bbr_init_lane_calls(VALUE core)
{
    VALUE class = rb_const_get(core, rb_intern("Lane"));
    rb_define_method(class, "hijack", lane_hijack, 0);
    rb_define_method(class, "early_hints", lane_early_hints, 1);
}
