/* rb_lane.c: Bontebok::Core::Lane, and the loop in which a request lives its whole life: serve_requests,
 * serve_request, answer. lib runs each Lane#serve in a thread of its own. */
#include "rb_bontebok.h"

#include <errno.h>
#include <ruby/thread.h>
#include <string.h>
#include <unistd.h>

static ID id_call, id_close, id_closed_p;

/* ---- waiting, the only two places where the GVL is released ---- */

struct wait {
    struct bb_lane *core;
    int code;
};

static void *without_gvl_lane_wait(void *argument)
{
    struct wait *wait = argument;
    wait->code = bb_lane_wait(wait->core);
    return NULL;
}

static void *without_gvl_reply_wait(void *argument)
{
    struct wait *wait = argument;
    wait->code = bb_reply_wait(wait->core);
    return NULL;
}

static void wake(void *core)
{
    bb_lane_wake(core);
}

static void wait_for_request(struct bbr_lane *lane)
{
    struct wait wait = {.core = lane->core};
    rb_thread_call_without_gvl(without_gvl_lane_wait, &wait, wake, lane->core);
}

void bbr_lane_wait_for_client(struct bbr_exchange *exchange)
{
    struct wait wait = {.core = exchange->lane->core};
    rb_thread_call_without_gvl(without_gvl_reply_wait, &wait, wake, wait.core);
    if (wait.code < 0) bbr_reply_check(exchange, wait.code);
}

/* ---- what the core has to tell ---- */

VALUE bbr_news_text(const struct bb_news *news)
{
    VALUE text = rb_str_new_cstr(news->peer);
    if (RSTRING_LEN(text) > 0) rb_str_cat_cstr(text, ": ");
    rb_str_cat_cstr(text, news->text);
    if (news->status) rb_str_catf(text, " (%d)", news->status);
    if (news->error) rb_str_catf(text, ": %s", strerror(news->error));
    if (news->left_out) rb_str_catf(text, ", and %u more like it", news->left_out);
    return text;
}

/* A client that asks for what HTTP/1 servers need not know, or that has gone, is no trouble of ours. */
const char *bbr_news_level(const struct bb_news *news)
{
    return news->status == 499 || news->status == 501 || news->status == 505 ? "info" : "warn";
}

static void tell_news(struct bbr_exchange *exchange)
{
    struct bb_news news;
    while (bb_lane_news(exchange->lane->core, &news) == BB_OK)
        bbr_report(exchange, bbr_news_level(&news), bbr_news_text(&news), Qnil);
}

/* ---- between two requests ---- */

/* lib does then what would cost a client time inside of a request. The kernel gives new connections to other
 * processes meanwhile. */
static void go_out_of_band(struct bbr_exchange *exchange, enum bb_aside when)
{
    struct bbr_worker *worker = exchange->lane->worker;
    if (bb_lane_step_aside(exchange->lane->core, when) != BB_OK) return;
    worker->out_of_band = worker->out_of_band_latest = BBR_NEVER;
    bbr_report(exchange, "out_of_band", Qnil, Qnil);
    bb_lane_step_back(exchange->lane->core);
}

static void be_idle(struct bbr_exchange *exchange)
{
    struct bbr_worker *worker = exchange->lane->worker;
    if (worker->requests >= worker->out_of_band) go_out_of_band(exchange, BB_ASIDE_IDLE);
    wait_for_request(exchange->lane);
}

/* ---- a request's life ---- */

/* What may unwind of it. */
static VALUE answer(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    VALUE env = exchange->env = bbr_env_build(exchange);
    bbr_reply(exchange, rb_funcallv(exchange->lane->app, id_call, 1, &env));
    return Qnil;
}

/* SPEC: close is called when the body is done with, whatever became of it. RequestTimeout is never
 * raised in it, since it gives back what the request has taken. */
static VALUE close_body(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    VALUE body = exchange->body;
    exchange->body = Qundef;
    if (exchange->body_tells_closed && RTEST(rb_funcallv(body, id_closed_p, 0, NULL))) return Qnil;
    return rb_funcallv(body, id_close, 0, NULL);
}

/* Gives the request back to the core; nothing of the application may point into it any more. */
static void give_back(struct bbr_exchange *exchange)
{
    struct bb_lane *core = exchange->lane->core;
    if (!NIL_P(exchange->input)) bbr_input_detach(exchange->input);
    if (!NIL_P(exchange->stream)) bbr_stream_detach(exchange->stream);
    exchange->input = exchange->stream = Qnil;
    exchange->request = NULL;
    exchange->lane->worker->in_hand--;
    if (exchange->broken)
        bb_reply_abort(core);
    else if (bb_reply_end(core) == BB_ESHORT)
        bbr_failed_short(exchange);
}

static void take_in_hand(struct bbr_exchange *exchange)
{
    struct bbr_worker *worker = exchange->lane->worker;
    exchange->env = Qnil;
    exchange->body = Qundef;
    exchange->gone = exchange->broken = exchange->body_tells_closed = false;
    worker->in_hand++;
    if (!worker->resting) return;
    worker->resting = false;
    bb_worker_watch(worker->core, true);
    bbr_report(exchange, "busy", Qnil, Qnil);
}

static void serve_request(struct bbr_exchange *exchange)
{
    struct bbr_lane *lane = exchange->lane;
    take_in_hand(exchange);

    VALUE error = bbr_attempt_in_time(answer, exchange);
    if (!NIL_P(error)) bbr_failed(exchange, error);
    if (exchange->body != Qundef) {
        error = bbr_attempt(close_body, (VALUE)exchange);
        if (!NIL_P(error)) bbr_failed_late(exchange, error);
    }
    give_back(exchange);
    exchange->env = Qnil; /* the next request may be long in coming */
    uint64_t served = ++lane->worker->requests;
    if (served == lane->max_requests) bbr_report(exchange, "max_requests", Qnil, Qnil);
    if (served >= lane->worker->out_of_band_latest) go_out_of_band(exchange, BB_ASIDE_ANYWAY);
    if (bb_lane_gives_way(lane->core, lane->worker->in_hand > 0)) rb_thread_schedule();
}

static VALUE serve_requests(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    struct bbr_lane *lane = exchange->lane;
    int code;
    while ((code = bb_lane_next(lane->core, &exchange->request)) != BB_DRAINED) {
        if (code == BB_OK)
            serve_request(exchange);
        else if (code == BB_AGAIN)
            be_idle(exchange);
        else
            tell_news(exchange);
        rb_thread_check_ints(); /* for an application that never runs Ruby code of its own */
    }
    return Qnil;
}

/* Of a request that is in hand although the loop was left. */
static void abandon(struct bbr_exchange *exchange)
{
    if (exchange->request) {
        exchange->broken = true;
        give_back(exchange);
    }
    if (exchange->body != Qundef) (void)bbr_attempt(close_body, (VALUE)exchange);
}

/* What other threads raise in this one, a timeout that comes too late for example, may arrive between two
 * requests: that is no reason to leave the others unserved. */
static VALUE serve(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    VALUE error;
    while (!NIL_P(error = bbr_attempt(serve_requests, argument))) {
        bbr_failed_late(exchange, error);
        abandon(exchange);
        exchange->env = Qnil;
    }
    bbr_lane_leave_if_child(exchange->lane);
    return Qnil;
}

/* The thread may have been unwound: killed, or by a throw past us. */
static VALUE stop_serving(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    exchange->lane->exchange = NULL;
    bb_lane_step_back(exchange->lane->core);
    abandon(exchange);
    return Qnil;
}

bool bbr_lane_is_child(const struct bbr_lane *lane)
{
    return getpid() != lane->pid;
}

void bbr_lane_leave_if_child(const struct bbr_lane *lane)
{
    if (bbr_lane_is_child(lane)) bbr_leave_child(EXIT_SUCCESS);
}

/* ---- the object ---- */

static void each_value(struct bbr_lane *lane, void (*visit)(VALUE *))
{
    visit(&lane->worker_object);
    visit(&lane->app);
    visit(&lane->report);
    visit(&lane->on_error);
    visit(&lane->no_input);
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

static void lane_free(void *data)
{
    struct bbr_lane *lane = data;
    /* In a child that was forked later the descriptors may be anybody's by now. */
    if (lane->core && lane->pid == getpid()) bb_lane_free(lane->core);
    if (lane->worker) bbr_worker_release(lane->worker);
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
    if (!lane->core) rb_raise(rb_eRuntimeError, "uninitialized Bontebok::Core::Lane");
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

/* The options of Lane.new, in the order of this list. */
enum option { REPORT, ENV, FROZEN_ENV, SHOW_ERRORS, MAX_REQUESTS, ON_ERROR, OPTIONS };

static void take_options(VALUE given, VALUE values[OPTIONS])
{
    static const char *const names[OPTIONS] = {"report",      "env",          "frozen_env",
                                               "show_errors", "max_requests", "on_error"};
    ID ids[OPTIONS];
    for (int i = 0; i < OPTIONS; i++) ids[i] = rb_intern(names[i]);
    rb_get_kwargs(given, ids, 1, OPTIONS - 1, values);
}

/* Lane.new(worker, app, report:, env: {}, frozen_env: false, show_errors: false, max_requests: 0,
 * on_error: nil). env: the fixed part of every env. on_error: callable(exception, env), env is nil outside of
 * a request; it returns the text of the 500 or 504, an answer like an application's, or nil. report:
 * callable(level, message, exception), which is also told
 *
 *   :leave, nil, exception     the application asks this process to end; the lane goes on until it is drained
 *   :max_requests, nil, nil    the worker has served max_requests (the same for all of its lanes), told once
 *   :busy, nil, nil            the first request since Worker#rest was true
 *   :out_of_band, nil, nil     what Worker#out_of_band_after has asked for
 */
static VALUE lane_initialize(int argc, VALUE *argv, VALUE self)
{
    struct bbr_lane *lane;
    TypedData_Get_Struct(self, struct bbr_lane, &lane_type, lane);
    if (lane->worker) rb_raise(rb_eRuntimeError, "already initialized");

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
    make_endpoints(self, lane, base);
    lane->http_version = RTEST(rb_hash_aref(base, bbr_env_keys[BBR_HTTP_VERSION]));
    lane->rack2 = RTEST(rb_hash_aref(base, rb_str_new_cstr("rack.version")));
    if (values[FROZEN_ENV] != Qundef && RTEST(values[FROZEN_ENV])) lane->shapes = bbr_shapes_new();

    int code = bb_lane_new(&lane->core, lane->worker->core);
    if (code < 0) bbr_raise(code);
    return self;
}

/* Serves until the worker has drained. Left by a kill of its thread, or a throw, it can be called again. */
static VALUE lane_serve(VALUE self)
{
    struct bbr_lane *lane = bbr_lane_of(self);
    if (lane->exchange) rb_raise(rb_eThreadError, "this lane is served already");

    struct bbr_exchange exchange = {.self = self, .lane = lane, .body = Qundef};
    lane->exchange = &exchange;
    exchange.thread = rb_thread_current();
    exchange.env = exchange.input = exchange.stream = Qnil;
    rb_ensure(serve, (VALUE)&exchange, stop_serving, (VALUE)&exchange);
    RB_GC_GUARD(self);
    return Qnil;
}

void bbr_init_lane(VALUE core)
{
    id_call = rb_intern("call");
    id_close = rb_intern("close");
    id_closed_p = rb_intern("closed?");

    VALUE class = rb_define_class_under(core, "Lane", rb_cObject);
    rb_define_alloc_func(class, lane_allocate);
    rb_define_method(class, "initialize", lane_initialize, -1);
    rb_define_method(class, "serve", lane_serve, 0);
}
