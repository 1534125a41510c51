/* rb_lane_hijack.c: Lane#hijack, which lib puts into the env as rack.hijack (SPEC of Rack, full hijack). A
 * lane is a thread that serves requests. rb_hijack.c takes the socket. */
#include "rb_bontebok.h"

/* hijack: takes the connection of the calling thread's request, and returns its socket. A second call returns
 * the same socket. Raises IOError if the response has begun. */
static VALUE lane_hijack(VALUE self)
{
    struct bbr_exchange *exchange = bbr_lane_of(self)->exchange;
    if (!exchange || !exchange->request || exchange->thread != rb_thread_current())
        rb_raise(rb_eIOError, "rack.hijack: only the thread that serves a request may hijack its connection");
    VALUE key = bbr_env_keys[BBR_HIJACK_IO], env = exchange->env;
    if (exchange->detached && !NIL_P(rb_hash_lookup(env, key))) return rb_hash_lookup(env, key);
    if (exchange->detached || bb_reply_sent(exchange->lane->core))
        rb_raise(rb_eIOError, "rack.hijack: the response has begun");
    VALUE socket = bbr_hijack_socket(exchange);
    rb_hash_aset(env, key, socket);
    RB_GC_GUARD(self);
    return socket;
}

void bbr_init_lane_hijack(VALUE core)
{
    VALUE class = rb_const_get(core, rb_intern("Lane"));
    rb_define_method(class, "hijack", lane_hijack, 0);
}
