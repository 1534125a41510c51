/* rb_serve.c: the loop that serves requests. For each request serve_requests() calls serve_request(), and
 * serve_request() calls call_and_reply(). lib (the server's Ruby code) runs each Lane#serve in a thread of
 * its own. */
#include "rb_bontebok.h"

static ID id_call, id_close, id_closed_p;

static void report_events(struct bbr_exchange *exchange)
{
    struct bb_event event;
    while (bb_lane_event(exchange->lane->core, &event) == BB_OK)
        bbr_report(exchange, bbr_event_level(&event), bbr_event_text(&event), Qnil);
}

/* ---- between two requests ---- */

/* lib does its out-of-band work here, between two requests, so that no client waits for that work. During
 * this call the kernel gives new connections to other processes. */
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
    (void)bbr_wait(exchange->lane, bb_lane_wait);
}

/* ---- a request's life ---- */

/* After a hijack the application's response is not sent. Its body is closed. */
static void drop_response(struct bbr_exchange *exchange, VALUE response)
{
    VALUE triplet = rb_check_array_type(response);
    VALUE body = NIL_P(triplet) ? Qnil : rb_ary_entry(triplet, 2);
    if (rb_respond_to(body, id_close)) exchange->body = body;
}

/* The part of a request that may unwind. */
static VALUE call_and_reply(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    VALUE env = exchange->env = bbr_env_build(exchange);
    VALUE response = rb_funcallv(exchange->lane->app, id_call, 1, &env);
    if (RB_UNLIKELY(exchange->detached)) {
        bbr_lane_leave_if_child(exchange->lane);
        drop_response(exchange, response);
    } else {
        bbr_reply(exchange, response);
    }
    return Qnil;
}

/* SPEC: the server calls `close` when it is done with the body, in every case. RequestTimeout is never raised
 * in `close`, because `close` releases the resources of the request. */
static VALUE close_body(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    VALUE body = exchange->body;
    exchange->body = Qundef;
    if (exchange->request) bb_reply_pause(exchange->lane->core); /* `close` may take long */
    if (exchange->body_tells_closed && RTEST(rb_funcallv(body, id_closed_p, 0, NULL))) return Qnil;
    return rb_funcallv(body, id_close, 0, NULL);
}

/* Gives the request back to the core. First detaches objects that point into the request, because the
 * application may keep them. */
static void give_back(struct bbr_exchange *exchange)
{
    struct bb_lane *core = exchange->lane->core;
    int code;
    if (!NIL_P(exchange->input)) bbr_input_detach(exchange->input);
    if (!NIL_P(exchange->each)) bbr_each_detach(exchange->each);
    exchange->input = exchange->stream = exchange->each = Qnil;
    exchange->request = NULL;
    exchange->lane->worker->in_hand--;
    if (exchange->broken)
        bb_reply_abort(core);
    else if (RB_UNLIKELY((code = bb_reply_end(core)) < 0))
        bbr_failed_short(exchange, code);
}

static bool has_callables(const struct bbr_exchange *exchange)
{
    return RARRAY_LEN(exchange->lane->finished) + RARRAY_LEN(exchange->lane->after_reply) > 0;
}

/* The next request could add nothing to such an Array. */
static bool has_frozen_arrays(const struct bbr_lane *lane)
{
    return OBJ_FROZEN(lane->finished) || OBJ_FROZEN(lane->after_reply);
}

/* The application may keep the env of a hijacked connection for as long as the connection. */
static bool has_to_finish(const struct bbr_exchange *exchange)
{
    return exchange->hijacked || has_callables(exchange);
}

static VALUE end_work(VALUE core)
{
    bb_lane_end_work((struct bb_lane *)core);
    return Qnil;
}

/* The callables may take long. Meanwhile the I/O thread serves the connections of this thread. */
static void run_callables(struct bbr_exchange *exchange)
{
    if (NIL_P(exchange->env)) return;
    VALUE rest = bbr_finish_take(exchange, Qnil);
    bb_lane_begin_work(exchange->lane->core);
    rb_ensure(bbr_finish_run, rest, end_work, (VALUE)exchange->lane->core);
}

static void take_in_hand(struct bbr_exchange *exchange)
{
    struct bbr_worker *worker = exchange->lane->worker;
    exchange->env = Qnil;
    exchange->body = Qundef;
    exchange->gone = exchange->broken = exchange->body_tells_closed = false;
    exchange->detached = exchange->hijacked = false;
    exchange->status = exchange->headers = exchange->error = Qnil;
    worker->in_hand++; /* give_back() subtracts it, whatever follows */
    if (RB_UNLIKELY(has_callables(exchange) || has_frozen_arrays(exchange->lane)))
        bbr_finish_forget(exchange);
    if (!worker->resting) return;
    worker->resting = false;
    bb_worker_watch(worker->core, true);
    bbr_report(exchange, "busy", Qnil, Qnil);
}

static void serve_request(struct bbr_exchange *exchange)
{
    struct bbr_lane *lane = exchange->lane;
    take_in_hand(exchange);

    VALUE error = bbr_attempt_in_time(call_and_reply, exchange);
    if (!NIL_P(error)) bbr_failed(exchange, error);
    if (!NIL_P(exchange->stream)) {
        bbr_lane_leave_if_child(lane);
        bbr_stream_leave(exchange->stream);
    }
    if (exchange->body != Qundef) {
        error = bbr_attempt(close_body, (VALUE)exchange);
        if (!NIL_P(error)) bbr_failed_late(exchange, error);
        bbr_lane_leave_if_child(lane);
    }
    give_back(exchange);
    if (RB_UNLIKELY(has_to_finish(exchange))) run_callables(exchange);
    exchange->env = Qnil; /* the GC may free the env while the lane waits for the next request */
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
    bb_lane_show_thread(lane->core);
    while ((code = bb_lane_next(lane->core, &exchange->request)) != BB_DRAINED) {
        if (code == BB_OK)
            serve_request(exchange);
        else if (code == BB_AGAIN)
            be_idle(exchange);
        else
            report_events(exchange);
        rb_thread_check_ints(); /* if the application runs no Ruby code, nothing else does this */
    }
    return Qnil;
}

/* If the loop was left in the middle of a request, ends this request. */
static void abandon(struct bbr_exchange *exchange)
{
    if (!NIL_P(exchange->stream)) bbr_stream_abort(exchange->stream);
    if (exchange->request) {
        exchange->broken = true;
        give_back(exchange);
    }
    if (exchange->body != Qundef) (void)bbr_attempt(close_body, (VALUE)exchange);
    if (has_to_finish(exchange)) run_callables(exchange);
}

/* Between two requests, another thread may raise an exception in this thread, for example a late timeout. The
 * loop then starts again, so that other requests are served. */
VALUE bbr_serve(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    VALUE error;
    while (!NIL_P(error = bbr_attempt(serve_requests, argument))) {
        bbr_failed_late(exchange, error);
        exchange->error = error;
        abandon(exchange);
        exchange->env = Qnil;
    }
    bbr_lane_leave_if_child(exchange->lane);
    return Qnil;
}

static VALUE step_back_and_abandon(VALUE argument)
{
    struct bbr_exchange *exchange = (struct bbr_exchange *)argument;
    bbr_lane_leave_if_child(exchange->lane);
    exchange->limited = false;
    bb_lane_step_back(exchange->lane->core);
    abandon(exchange);
    return Qnil;
}

static VALUE leave_lane(VALUE argument)
{
    ((struct bbr_exchange *)argument)->lane->exchange = NULL;
    return Qnil;
}

/* Runs also if a kill or a throw has ended bbr_serve(). */
VALUE bbr_stop_serving(VALUE argument)
{
    return rb_ensure(step_back_and_abandon, argument, leave_lane, argument);
}

void bbr_init_serve(void)
{
    id_call = rb_intern("call");
    id_close = rb_intern("close");
    id_closed_p = rb_intern("closed?");
}
