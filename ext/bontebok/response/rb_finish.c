/* rb_finish.c: what the application wants to be called after a response: rack.response_finished (SPEC of
 * Rack 3) and rack.after_reply (as in puma). Each callable is called once, whatever happens to the response.
 * For a stream that outlives its request, also closes the body.
 *
 * Both keys of the env have an Array of the lane, which all its requests share, so that a request without
 * callables costs nothing. take() moves the callables out of the lane's Arrays at the end of the request.
 * Arrays of their own for all requests would cost a hello world 10 % more instructions (8 % for the two
 * stores into the Hash alone), and Ruby cannot tell whether the application keeps an env. An env gets Arrays
 * of its own if it had callables, or if its connection outlives the request. If the application keeps another
 * env and adds a callable after the end of the request, the callable is called after another request of the
 * lane, or never (docs/APPLICATIONS.md). For the same reason, an Array by which the application replaces the
 * lane's own one is not called: the two lookups in every env cost a hello world 4 % more instructions
 * (bench/price). */
#include "rb_bontebok.h"

#include <unistd.h>

static ID id_call, id_close;

/* The elements of the Ruby Array with the work that is left. The Array may outlive the request. */
enum rest { OWNER, REPORT, ENV, STATUS, HEADERS, ERROR, BODY, FINISHED, AFTER_REPLY, RESTS };

/* The lane's next requests get another Array. */
static void renew(const struct bbr_exchange *exchange, VALUE *callables, enum bbr_env_key key)
{
    struct bbr_lane *lane = exchange->lane;
    RB_OBJ_WRITE(exchange->self, callables, rb_ary_new());
    for (unsigned i = 0; i < lane->endpoint_count; i++)
        rb_hash_aset(lane->endpoints[i].template, bbr_env_keys[key], *callables);
    if (lane->shapes) bbr_shapes_forget(lane->shapes);
}

/* The application may have frozen the Array. The exception of rb_ary_clear() is not waited for, because its
 * message calls `inspect` of the elements. */
static void clear(const struct bbr_exchange *exchange, VALUE *callables, enum bbr_env_key key)
{
    if (OBJ_FROZEN(*callables))
        renew(exchange, callables, key);
    else
        rb_ary_clear(*callables);
}

/* Moves the callables into an Array of their own. */
static VALUE take(const struct bbr_exchange *exchange, VALUE *callables, enum bbr_env_key key)
{
    VALUE taken = rb_ary_dup(*callables);
    clear(exchange, callables, key);
    return taken;
}

/* Callables that the application adds from now on belong to this request, not to the lane's next one. */
static VALUE set_own(VALUE rest)
{
    VALUE env = rb_ary_entry(rest, ENV);
    if (OBJ_FROZEN(env)) return Qnil;
    rb_hash_aset(env, bbr_env_keys[BBR_RESPONSE_FINISHED], rb_ary_entry(rest, FINISHED));
    return rb_hash_aset(env, bbr_env_keys[BBR_AFTER_REPLY], rb_ary_entry(rest, AFTER_REPLY));
}

void bbr_finish_forget(const struct bbr_exchange *exchange)
{
    struct bbr_lane *lane = exchange->lane;
    clear(exchange, &lane->finished, BBR_RESPONSE_FINISHED);
    clear(exchange, &lane->after_reply, BBR_AFTER_REPLY);
}

VALUE bbr_finish_take(struct bbr_exchange *exchange, VALUE body)
{
    struct bbr_lane *lane = exchange->lane;
    VALUE finished = take(exchange, &lane->finished, BBR_RESPONSE_FINISHED);
    VALUE after_reply = take(exchange, &lane->after_reply, BBR_AFTER_REPLY);
    VALUE rest[RESTS] = {PIDT2NUM(lane->pid), lane->report,    exchange->env, exchange->status,
                         exchange->headers,   exchange->error, body,          finished,
                         after_reply};
    VALUE array = rb_ary_new_from_values(RESTS, rest);
    (void)bbr_attempt(set_own, array); /* the env may take no key */
    return array;
}

void bbr_finish_failed(VALUE rest, VALUE error)
{
    if (RARRAY_LEN(rest) > 0) rb_ary_store(rest, ERROR, error);
}

/* ---- the calls ---- */

struct step {
    VALUE rest, callable;
};

static VALUE call_finished(VALUE argument)
{
    const struct step *step = (const struct step *)argument;
    VALUE arguments[] = {rb_ary_entry(step->rest, ENV), rb_ary_entry(step->rest, STATUS),
                         rb_ary_entry(step->rest, HEADERS), rb_ary_entry(step->rest, ERROR)};
    return rb_funcallv(step->callable, id_call, 4, arguments);
}

static VALUE call_after_reply(VALUE argument)
{
    return rb_funcallv(((const struct step *)argument)->callable, id_call, 0, NULL);
}

static VALUE close_body(VALUE argument)
{
    return rb_funcallv(((const struct step *)argument)->callable, id_close, 0, NULL);
}

/* False in a process that the application has forked: the work belongs to the parent. */
static bool is_owner(VALUE rest)
{
    return NUM2PIDT(rb_ary_entry(rest, OWNER)) == getpid();
}

static void log_failure(VALUE rest, const char *what, VALUE error)
{
    VALUE message = bbr_env_label(rb_ary_entry(rest, ENV));
    rb_str_catf(message, ": %s has failed", what);
    bbr_report_to(rb_ary_entry(rest, REPORT), "error", message, error);
}

/* Calls the application once. Logs an exception that it raises. A process that the call has forked ends. */
static void attempt(VALUE rest, VALUE (*function)(VALUE), VALUE callable, const char *what)
{
    struct step step = {rest, callable};
    VALUE error = bbr_attempt(function, (VALUE)&step);
    bool is_child = !is_owner(rest);
    bool is_exit = is_child && RTEST(rb_obj_is_kind_of(error, rb_eSystemExit));
    if (!NIL_P(error) && !is_exit) log_failure(rest, what, error);
    if (is_child) bbr_leave_child(bbr_child_status(error));
}

/* Removes a callable from the Array and returns it; Qundef: there is none. A callable may freeze its env with
 * all that the env holds. */
static VALUE next(VALUE rest, enum rest key, VALUE (*remove)(VALUE array))
{
    VALUE callables = rb_ary_entry(rest, key);
    if (RARRAY_LEN(callables) == 0) return Qundef;
    if (OBJ_FROZEN(callables)) rb_ary_store(rest, key, callables = rb_ary_dup(callables));
    return remove(callables);
}

static VALUE run_all(VALUE rest)
{
    VALUE body = rb_ary_entry(rest, BODY), callable;
    rb_ary_store(rest, BODY, Qnil);
    if (!NIL_P(body)) attempt(rest, close_body, body, "the body's close");
    while ((callable = next(rest, AFTER_REPLY, rb_ary_shift)) != Qundef)
        attempt(rest, call_after_reply, callable, "rack.after_reply");
    while ((callable = next(rest, FINISHED, rb_ary_pop)) != Qundef)
        attempt(rest, call_finished, callable, "rack.response_finished");
    return Qnil;
}

bool bbr_finish_is_due(VALUE rest)
{
    return RARRAY_LEN(rest) > 0 && is_owner(rest);
}

/* A callable that raises, or ends its thread, does not keep the others from being called. */
VALUE bbr_finish_run(VALUE shared)
{
    if (!bbr_finish_is_due(shared)) return Qnil;
    VALUE rest = rb_ary_dup(shared);
    rb_ary_clear(shared); /* another thread may come here, too */
    return rb_ensure(run_all, rest, run_all, rest);
}

void bbr_init_finish(void)
{
    id_call = rb_intern("call");
    id_close = rb_intern("close");
}
