/* rb_lane.c: Bontebok::Core::Lane, the object that serves requests in one thread. rb_serve.c has the loop. */
#include "rb_bontebok.h"

#include <unistd.h>

/* ---- the object ---- */

static void each_value(struct bbr_lane *lane, void (*visit)(VALUE *))
{
    visit(&lane->worker_object);
    visit(&lane->app);
    visit(&lane->report);
    visit(&lane->on_error);
    visit(&lane->no_input);
    visit(&lane->finished);
    visit(&lane->after_reply);
    for (size_t i = 0; i < sizeof lane->keys / sizeof *lane->keys; i++) visit(&lane->keys[i]);
    for (unsigned i = 0; i < lane->endpoint_count; i++) {
        visit(&lane->endpoints[i].template);
        visit(&lane->endpoints[i].name);
        visit(&lane->endpoints[i].port);
    }
    if (lane->shapes) bbr_shapes_each_value(lane->shapes, visit);
}

static void mark_value(VALUE *value)
{
    rb_gc_mark_movable(*value);
}

static void move_value(VALUE *value)
{
    *value = rb_gc_location(*value);
}

static void lane_mark(void *data)
{
    each_value(data, mark_value);
}

static void lane_compact(void *data)
{
    each_value(data, move_value);
}

static void release(struct bbr_lane *lane)
{
    /* In a child that was forked later, these descriptor numbers may belong to other files. */
    if (lane->core && lane->pid == getpid()) bb_lane_free(lane->core);
    if (lane->worker) bbr_worker_release(lane->worker);
    lane->core = NULL;
    lane->worker = NULL;
}

static void lane_free(void *data)
{
    struct bbr_lane *lane = data;
    release(lane);
    xfree(lane->endpoints);
    xfree(lane->shapes);
    xfree(lane);
}

static size_t lane_size(const void *data)
{
    const struct bbr_lane *lane = data;
    return sizeof *lane + lane->endpoint_count * sizeof *lane->endpoints +
           (lane->shapes ? bbr_shapes_size() : 0);
}

static const rb_data_type_t lane_type = {
    .wrap_struct_name = "Bontebok::Core::Lane",
    .function = {.dmark = lane_mark, .dfree = lane_free, .dsize = lane_size, .dcompact = lane_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE lane_allocate(VALUE class)
{
    struct bbr_lane *lane;
    return TypedData_Make_Struct(class, struct bbr_lane, &lane_type, lane);
}

struct bbr_lane *bbr_lane_of(VALUE self)
{
    struct bbr_lane *lane;
    TypedData_Get_Struct(self, struct bbr_lane, &lane_type, lane);
    if (!lane->core) rb_raise(rb_eRuntimeError, "uninitialized or closed Bontebok::Core::Lane");
    return lane;
}

/* ---- methods ---- */

static void make_endpoints(VALUE self, struct bbr_lane *lane, VALUE base)
{
    VALUE listeners = bbr_worker_listeners(lane->worker_object);
    unsigned count = (unsigned)RARRAY_LEN(listeners);
    lane->endpoints = ZALLOC_N(struct bbr_endpoint, count);
    lane->endpoint_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct bbr_endpoint *endpoint = &lane->endpoints[i];
        VALUE listener = rb_ary_entry(listeners, i);
        RB_OBJ_WRITE(self, &endpoint->name, rb_ary_entry(listener, 0));
        RB_OBJ_WRITE(self, &endpoint->port, rb_ary_entry(listener, 1));
        endpoint->unix_socket = RTEST(rb_ary_entry(listener, 2));
        RB_OBJ_WRITE(self, &endpoint->template, bbr_env_template(base, endpoint, lane->no_input));
    }
}

/* Returns the Array of the base env with this key. */
static VALUE callables(VALUE base, enum bbr_env_key key)
{
    VALUE array = rb_check_array_type(rb_hash_lookup(base, bbr_env_keys[key]));
    return NIL_P(array) ? rb_ary_new() : array;
}

/* The options of Lane.new. take_options() has their names in this order. */
enum option { REPORT, ENV, FROZEN_ENV, SHOW_ERRORS, MAX_REQUESTS, ON_ERROR, ASTERISK, OPTIONS };

static void take_options(VALUE given, VALUE values[OPTIONS])
{
    static const char *const names[OPTIONS] = {"report",       "env",      "frozen_env", "show_errors",
                                               "max_requests", "on_error", "asterisk"};
    ID ids[OPTIONS];
    for (int i = 0; i < OPTIONS; i++) ids[i] = rb_intern(names[i]);
    rb_get_kwargs(given, ids, 1, OPTIONS - 1, values);
}

/* Lane.new(worker, app, report:, env: {}, frozen_env: false, show_errors: false, max_requests: 0, on_error:
 * nil, asterisk: true)
 *
 *   env            the fixed part of every env. Its Arrays rack.response_finished and rack.after_reply
 *                  must belong to this lane alone
 *   max_requests   when to report :max_requests; give all lanes of a worker the same number
 *   on_error       callable(exception, env); env is nil outside of a request. It returns the text of the 500
 *                  or 504, a triplet like the application's, or nil
 *   asterisk       whether PATH_INFO of "OPTIONS *" is "*" (SPEC of Rack 3.1); else it is empty
 *   report         callable(level, message, exception). It gets log entries, and these reports:
 *
 *   :leave, nil, exception     the application asks this process to end; the lane serves until it is drained
 *   :max_requests, nil, nil    the lanes of the worker have served max_requests together; reported once
 *   :busy, nil, nil            the first request after Worker#rest has returned true
 *   :out_of_band, nil, nil     see Worker#out_of_band_after
 *   :detached, nil, connection the application has the connection, as a Socket or as a Stream that has
 *                              outlived its request
 */
static VALUE lane_initialize(int argc, VALUE *argv, VALUE self)
{
    struct bbr_lane *lane;
    TypedData_Get_Struct(self, struct bbr_lane, &lane_type, lane);
    if (lane->worker_object) rb_raise(rb_eRuntimeError, "already initialized");

    VALUE worker, app, given, values[OPTIONS];
    rb_scan_args(argc, argv, "2:", &worker, &app, &given);
    take_options(given, values);
    VALUE base = values[ENV] == Qundef ? rb_hash_new() : values[ENV];
    Check_Type(base, T_HASH);
    lane->show_errors = values[SHOW_ERRORS] != Qundef && RTEST(values[SHOW_ERRORS]);
    lane->max_requests = values[MAX_REQUESTS] == Qundef ? 0 : NUM2ULL(values[MAX_REQUESTS]);

    lane->worker = bbr_worker_hold(worker);
    lane->pid = getpid();
    RB_OBJ_WRITE(self, &lane->worker_object, worker);
    RB_OBJ_WRITE(self, &lane->app, app);
    RB_OBJ_WRITE(self, &lane->report, values[REPORT]);
    RB_OBJ_WRITE(self, &lane->on_error, values[ON_ERROR] == Qundef ? Qnil : values[ON_ERROR]);
    RB_OBJ_WRITE(self, &lane->no_input, bbr_input_empty());
    RB_OBJ_WRITE(self, &lane->finished, callables(base, BBR_RESPONSE_FINISHED));
    RB_OBJ_WRITE(self, &lane->after_reply, callables(base, BBR_AFTER_REPLY));
    make_endpoints(self, lane, base);
    lane->http_version = RTEST(rb_hash_aref(base, bbr_env_keys[BBR_HTTP_VERSION]));
    lane->asterisk = values[ASTERISK] == Qundef || RTEST(values[ASTERISK]);
    if (values[FROZEN_ENV] != Qundef && RTEST(values[FROZEN_ENV])) lane->shapes = bbr_shapes_new();

    int code = bb_lane_new(&lane->core, lane->worker->core);
    if (code < 0) bbr_raise(code);
    return self;
}

/* Serves until the worker has drained (ended gracefully). After a kill of the thread, or a throw, serve can
 * be called again. */
static VALUE lane_serve(VALUE self)
{
    struct bbr_lane *lane = bbr_lane_of(self);
    if (lane->exchange) rb_raise(rb_eThreadError, "this lane is served already");

    struct bbr_exchange exchange = {.self = self, .lane = lane, .body = Qundef};
    lane->exchange = &exchange;
    exchange.thread = rb_thread_current();
    exchange.env = exchange.input = exchange.stream = exchange.each = Qnil;
    exchange.status = exchange.headers = exchange.partial = exchange.error = Qnil;
    rb_ensure(bbr_serve, (VALUE)&exchange, bbr_stop_serving, (VALUE)&exchange);
    RB_GC_GUARD(self);
    return Qnil;
}

/* close: closes the lane's connections and descriptors, instead of the GC. A second call does nothing. Later
 * calls of other methods raise RuntimeError. Raises ThreadError while a thread serves the lane. */
static VALUE lane_close(VALUE self)
{
    struct bbr_lane *lane;
    TypedData_Get_Struct(self, struct bbr_lane, &lane_type, lane);
    if (lane->exchange) rb_raise(rb_eThreadError, "a thread serves this lane");
    release(lane);
    return Qnil;
}

void bbr_init_lane(VALUE core)
{
    VALUE class = rb_define_class_under(core, "Lane", rb_cObject);
    rb_define_alloc_func(class, lane_allocate);
    rb_define_method(class, "initialize", lane_initialize, -1);
    rb_define_method(class, "serve", lane_serve, 0);
    rb_define_method(class, "close", lane_close, 0);
}
