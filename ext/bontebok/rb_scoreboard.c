/* rb_scoreboard.c: Bontebok::Core::Scoreboard, which shows what the lanes of several processes do. Every
 * process can read the scoreboard. It is made before the processes are forked, and each process passes it to
 * its Worker. */
#include "rb_bontebok.h"

#include <stdlib.h>

static void scoreboard_free(void *scoreboard)
{
    if (scoreboard) bbr_scoreboard_release(scoreboard);
}

static const rb_data_type_t scoreboard_type = {
    .wrap_struct_name = "Bontebok::Core::Scoreboard",
    .function = {.dfree = scoreboard_free},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE scoreboard_allocate(VALUE class)
{
    return TypedData_Wrap_Struct(class, &scoreboard_type, NULL);
}

static struct bbr_scoreboard *scoreboard_of(VALUE self)
{
    struct bbr_scoreboard *scoreboard = rb_check_typeddata(self, &scoreboard_type);
    if (!scoreboard) rb_raise(rb_eRuntimeError, "uninitialized Bontebok::Core::Scoreboard");
    return scoreboard;
}

static struct bbr_scoreboard *writable(VALUE self)
{
    struct bbr_scoreboard *scoreboard = scoreboard_of(self);
    if (bb_scoreboard_is_writable(scoreboard->core)) return scoreboard;
    rb_raise(rb_eRuntimeError, "this scoreboard is only for reading");
}

struct bbr_scoreboard *bbr_scoreboard_hold(VALUE object)
{
    struct bbr_scoreboard *scoreboard = writable(object);
    scoreboard->holders++;
    return scoreboard;
}

void bbr_scoreboard_release(struct bbr_scoreboard *scoreboard)
{
    if (--scoreboard->holders > 0) return;
    bb_scoreboard_free(scoreboard->core);
    free(scoreboard);
}

static int map(struct bb_scoreboard **core, VALUE lanes, VALUE fd)
{
    return NIL_P(fd) ? bb_scoreboard_new(core, NUM2UINT(lanes)) : bb_scoreboard_attach(core, NUM2INT(fd));
}

/* Scoreboard.new(lanes, fd = nil): lanes is the number of lanes of all processes together. fd: the number of
 * a descriptor from Scoreboard.file, which the caller closes; nil: only this process and the processes that
 * it forks use the scoreboard. If the descriptor is open for reading only, the methods that change something
 * raise. Raises ArgumentError if another version of Bontebok, with another layout, has made the file. */
static VALUE scoreboard_initialize(int argc, VALUE *argv, VALUE self)
{
    VALUE lanes, fd;
    rb_scan_args(argc, argv, "11", &lanes, &fd);
    if (rb_check_typeddata(self, &scoreboard_type)) rb_raise(rb_eRuntimeError, "already initialized");
    struct bb_scoreboard *core;
    int code = map(&core, lanes, fd);
    if (code < 0) bbr_raise(code);
    struct bbr_scoreboard *scoreboard = calloc(1, sizeof *scoreboard);
    if (!scoreboard) {
        bb_scoreboard_free(core);
        rb_memerror();
    }
    *scoreboard = (struct bbr_scoreboard){.core = core, .holders = 1};
    RTYPEDDATA_DATA(self) = scoreboard;
    return self;
}

/* Scoreboard.file(lanes): makes a file in memory for a scoreboard that executed processes use as well.
 * Returns the number of its descriptor, which the caller closes. Raises SystemCallError (ENOSYS on systems
 * without memfd_create). */
static VALUE scoreboard_file(VALUE class, VALUE lanes)
{
    (void)class;
    int fd = bb_scoreboard_file(NUM2UINT(lanes));
    if (fd < 0) bbr_raise(fd);
    return INT2FIX(fd);
}

/* clear(pid, in, counter): clears the slots of the lanes of a process that has ended. The kernel may have
 * woken these lanes for connections that they did not take. So other lanes are woken by messages to `in`, the
 * sending end of the shared queue (Worker#share_queue). counter: the Scoreboard that counts the requests in
 * the queue (Worker#scoreboard). */
static VALUE scoreboard_clear(VALUE self, VALUE pid, VALUE in, VALUE counter)
{
    bb_scoreboard_clear(writable(self)->core, NUM2INT(pid), NUM2INT(in), writable(counter)->core);
    return Qnil;
}

static void put(VALUE shown, const char *name, VALUE value)
{
    rb_hash_aset(shown, ID2SYM(rb_intern(name)), value);
}

static VALUE held_name(enum bb_held held)
{
    static const char *const names[] = {[BB_HELD_BODY] = "body", [BB_HELD_STREAM] = "stream"};
    return held == BB_HELD_NOT ? Qnil : ID2SYM(rb_intern(names[held]));
}

/* A Hash:
 *
 *   slot        its number: Metrics#lanes has the same lane at this place
 *   pid
 *   state       :idle, :request, or :between (between two requests)
 *   leaves      whether its worker drains (ends gracefully)
 *   paused      whether it accepts nothing, because no descriptor is free, or max_connections is reached
 *   requests    the number of requests that the lane has got so far
 *   errors      the number of its responses 5xx, and of its requests past request_timeout
 *   taken       ms since the lane got its current request, or nil
 *   queue_time  ms that the current request has waited; without a current request, the last one
 *   silent      ms since the last Worker#beat of its process, or nil
 *   detached    how many hijacked connections and streams of the process have outlived their requests; only
 *               one of its lanes has the number, the others have 0
 *   waits       whether the process only waits, or has waited: see Worker#show_detached
 *   held        :body: the request waits for its body (unbuffered_bodies); :stream: a part of the response is
 *               sent, and the application has not ended it; nil
 *   label       "GET /path" of a request that takes long or is held, or nil
 */
static VALUE show(unsigned number, const struct bb_scoreboard_lane *lane)
{
    const char *state = lane->has_request ? "request" : lane->idle ? "idle" : "between";
    VALUE shown = rb_hash_new();
    put(shown, "slot", UINT2NUM(number));
    put(shown, "pid", INT2NUM(lane->pid));
    put(shown, "state", ID2SYM(rb_intern(state)));
    put(shown, "leaves", lane->leaves ? Qtrue : Qfalse);
    put(shown, "paused", lane->paused ? Qtrue : Qfalse);
    put(shown, "requests", ULL2NUM(lane->requests));
    put(shown, "errors", ULL2NUM(lane->errors));
    put(shown, "taken", lane->has_request ? ULL2NUM(lane->taken) : Qnil);
    put(shown, "queue_time", DBL2NUM((double)lane->queue_time / 1000));
    put(shown, "silent", lane->silent < UINT64_MAX ? ULL2NUM(lane->silent) : Qnil);
    put(shown, "detached", UINT2NUM(lane->detached));
    put(shown, "waits", lane->waits ? Qtrue : Qfalse);
    put(shown, "held", held_name(lane->held));
    put(shown, "label", lane->label[0] ? rb_str_new_cstr(lane->label) : Qnil);
    return shown;
}

/* lanes: an Array with a Hash for each lane. Works in any process. */
static VALUE scoreboard_lanes(VALUE self)
{
    const struct bb_scoreboard *scoreboard = scoreboard_of(self)->core;
    VALUE lanes = rb_ary_new();
    struct bb_scoreboard_lane lane;
    int code;
    for (unsigned number = 0; (code = bb_scoreboard_look(scoreboard, number, &lane)) != BB_EOF; number++)
        if (code == BB_OK) rb_ary_push(lanes, show(number, &lane));
    return lanes;
}

static void count_route(VALUE threads, const char *label)
{
    VALUE route = rb_str_new_cstr(label), count = rb_hash_lookup2(threads, route, INT2FIX(0));
    rb_hash_aset(threads, route, INT2FIX(FIX2INT(count) + 1));
}

/* held: shows whether long-lived requests leave too few threads for the other requests. A Hash:
 *
 *   threads     { "GET /path" => the number of threads that its streams and waiting bodies hold }
 *   queue_time  ms that a request of the other threads has waited: the longest of the current or last
 *               requests
 */
static VALUE scoreboard_held(VALUE self)
{
    const struct bb_scoreboard *scoreboard = scoreboard_of(self)->core;
    VALUE shown = rb_hash_new(), threads = rb_hash_new();
    struct bb_scoreboard_lane lane;
    uint64_t longest = 0;
    int code;
    for (unsigned number = 0; (code = bb_scoreboard_look(scoreboard, number, &lane)) != BB_EOF; number++) {
        if (code != BB_OK) continue;
        if (lane.held != BB_HELD_NOT)
            count_route(threads, lane.label);
        else if (lane.queue_time > longest)
            longest = lane.queue_time;
    }
    put(shown, "threads", threads);
    put(shown, "queue_time", DBL2NUM((double)longest / 1000));
    return shown;
}

/* slow: a Hash with the numbers of slow readers and slow senders that were disconnected to make room. */
static VALUE scoreboard_slow(VALUE self)
{
    struct bb_scoreboard_slow slow = bb_scoreboard_slow(scoreboard_of(self)->core);
    VALUE shown = rb_hash_new();
    put(shown, "readers", ULL2NUM(slow.readers));
    put(shown, "senders", ULL2NUM(slow.senders));
    return shown;
}

/* waiting(out): how many requests wait in the shared queue, whose receiving end has the number `out`, and for
 * how many seconds the first of them has waited: [Integer, Float]. Works in any process, on the scoreboard
 * that counts the requests (Worker#scoreboard). nil: no request waits, or what processes have written there
 * cannot be true. Takes nothing from the queue. */
static VALUE scoreboard_waiting(VALUE self, VALUE out)
{
    uint64_t count, oldest;
    if (bb_scoreboard_waiting(scoreboard_of(self)->core, NUM2INT(out), &count, &oldest) != BB_OK) return Qnil;
    return rb_assoc_new(ULL2NUM(count), DBL2NUM((double)oldest / 1000000));
}

/* draining=(value): true: all processes go on serving, but their responses announce the end of the server.
 * false: takes this back. Works in any process. */
static VALUE scoreboard_set_draining(VALUE self, VALUE draining)
{
    bb_scoreboard_set_draining(writable(self)->core, RTEST(draining));
    return draining;
}

static VALUE scoreboard_is_draining(VALUE self)
{
    return bb_scoreboard_is_draining(scoreboard_of(self)->core) ? Qtrue : Qfalse;
}

/* taken_over=(value): true: another server shares the queue. Workers of this server that drain give it their
 * idle connections. */
static VALUE scoreboard_set_taken_over(VALUE self, VALUE taken_over)
{
    bb_scoreboard_set_taken_over(writable(self)->core, RTEST(taken_over));
    return taken_over;
}

/* share_with(pids): for the next second, the processes with these pids (the canary) and the other ones each
 * get a share of the requests on kept-alive connections, in proportion to their lanes. Works in any
 * process. */
static VALUE scoreboard_share_with(VALUE self, VALUE pids)
{
    struct bb_scoreboard *scoreboard = writable(self)->core;
    VALUE memory;
    Check_Type(pids, T_ARRAY);
    long count = RARRAY_LEN(pids);
    int *numbers = ALLOCV_N(int, memory, count + 1);
    for (long i = 0; i < count; i++) numbers[i] = NUM2INT(rb_ary_entry(pids, i));
    bb_scoreboard_share_with(scoreboard, numbers, (size_t)count);
    ALLOCV_END(memory);
    return Qnil;
}

void bbr_init_scoreboard(VALUE core)
{
    VALUE class = rb_define_class_under(core, "Scoreboard", rb_cObject);
    /* Two versions with the same LAYOUT can share a scoreboard and a queue. */
    rb_define_const(class, "LAYOUT", UINT2NUM(bb_scoreboard_layout()));
    rb_define_alloc_func(class, scoreboard_allocate);
    rb_define_singleton_method(class, "file", scoreboard_file, 1);
    rb_define_method(class, "initialize", scoreboard_initialize, -1);
    rb_define_method(class, "clear", scoreboard_clear, 3);
    rb_define_method(class, "lanes", scoreboard_lanes, 0);
    rb_define_method(class, "held", scoreboard_held, 0);
    rb_define_method(class, "slow", scoreboard_slow, 0);
    rb_define_method(class, "waiting", scoreboard_waiting, 1);
    rb_define_method(class, "draining=", scoreboard_set_draining, 1);
    rb_define_method(class, "taken_over=", scoreboard_set_taken_over, 1);
    rb_define_method(class, "draining?", scoreboard_is_draining, 0);
    rb_define_method(class, "share_with", scoreboard_share_with, 1);
}
