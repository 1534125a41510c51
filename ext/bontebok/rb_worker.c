/* rb_worker.c: Bontebok::Core::Worker: the settings and listeners of this process, and its graceful end. lib
 * (the server's Ruby code) uses this class. The class Lane (one thread) serves the requests. */
#include "rb_bontebok.h"

#include <ruby/thread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Factor for out_of_band_after(requests). If the worker is never idle, its out-of-band work is done after
 * LATEST times that number of requests. If the work is garbage collection, a busy server collects less often,
 * but it does collect. */
#define LATEST 10

/* The Worker object. */
struct face {
    struct bbr_worker *worker; /* NULL: not initialized, or closed */
    VALUE listeners;
};

/* ---- the object ---- */

static void face_mark(void *data)
{
    struct face *face = data;
    rb_gc_mark_movable(face->listeners);
}

static void face_compact(void *data)
{
    struct face *face = data;
    face->listeners = rb_gc_location(face->listeners);
}

static void face_free(void *data)
{
    struct face *face = data;
    if (face->worker) bbr_worker_release(face->worker);
    xfree(face);
}

static size_t face_size(const void *data)
{
    return sizeof(struct face) + sizeof(struct bbr_worker);
}

static const rb_data_type_t worker_type = {
    .wrap_struct_name = "Bontebok::Core::Worker",
    .function = {.dmark = face_mark, .dfree = face_free, .dsize = face_size, .dcompact = face_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE worker_allocate(VALUE class)
{
    struct face *face;
    VALUE self = TypedData_Make_Struct(class, struct face, &worker_type, face);
    RB_OBJ_WRITE(self, &face->listeners, rb_ary_new());
    return self;
}

static struct face *face_of(VALUE self)
{
    struct face *face;
    TypedData_Get_Struct(self, struct face, &worker_type, face);
    if (!face->worker) rb_raise(rb_eRuntimeError, "uninitialized or closed Bontebok::Core::Worker");
    return face;
}

struct bbr_worker *bbr_worker_of(VALUE self)
{
    return face_of(self)->worker;
}

void bbr_worker_release(struct bbr_worker *worker)
{
    if (--worker->holders > 0) return;
    /* In a child that was forked later, these descriptor numbers may belong to other files. */
    bool freed = worker->pid != getpid() || bb_worker_free(worker->core) == BB_OK;
    if (freed && worker->scoreboard) bbr_scoreboard_release(worker->scoreboard);
    if (freed && worker->counter) bbr_scoreboard_release(worker->counter);
    if (freed && worker->metrics) bbr_metrics_release(worker->metrics);
    if (freed && worker->pub) bbr_public_release(worker->pub);
    free(worker);
}

struct bbr_worker *bbr_worker_hold(VALUE object)
{
    struct bbr_worker *worker = face_of(object)->worker;
    worker->holders++;
    return worker;
}

VALUE bbr_worker_listeners(VALUE object)
{
    return face_of(object)->listeners;
}

/* ---- methods ---- */

static int check_access_log(const struct bb_settings *settings)
{
    char fault[BB_FAULT_MAX];
    int code = bb_access_log_check(settings, fault);
    if (code == BB_EFORMAT) rb_raise(rb_eArgError, "%s", fault);
    return code;
}

/* Worker.check_access_log(settings): raises ArgumentError with the reason if the syntax of the format or the
 * target is wrong. Raises SystemCallError if the target cannot be opened. */
static VALUE worker_check_access_log(VALUE class, VALUE given)
{
    struct bb_settings settings = bbr_settings_of(given);
    if (check_access_log(&settings) == BB_ESYSTEM) rb_sys_fail(settings.access_log);
    return Qnil;
}

/* Worker.new(settings = {}): the keys are those of SETTINGS, and the names in BB_SETTINGS_TEXT. */
static VALUE worker_initialize(int argc, VALUE *argv, VALUE self)
{
    struct face *face;
    TypedData_Get_Struct(self, struct face, &worker_type, face);
    if (face->worker) rb_raise(rb_eRuntimeError, "already initialized");

    VALUE given;
    rb_scan_args(argc, argv, "01", &given);
    struct bb_settings settings = bbr_settings_of(given);

    (void)check_access_log(&settings); /* raises with the name of the wrong directive; a worker starts even if
                                          the target cannot be opened */
    struct bbr_worker *worker = calloc(1, sizeof *worker);
    if (!worker) rb_memerror();
    int code = bb_worker_new(&worker->core, &settings);
    if (code < 0) {
        free(worker);
        bbr_raise(code);
    }
    worker->pid = getpid();
    worker->holders = 1;
    worker->out_of_band = worker->out_of_band_latest = BBR_NEVER;
    worker->soft_limit = settings.request_timeout_soft > 0;
    worker->x_sendfile = settings.x_sendfile[0] != '\0';
    face->worker = worker;
    return self;
}

static VALUE is_unix_socket(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0) rb_sys_fail("listen");
    return address.ss_family == AF_UNIX ? Qtrue : Qfalse;
}

/* listen(fd, name, port): the core takes over the descriptor. name and port are SERVER_NAME and SERVER_PORT
 * of a request that names no authority. Returns the listener's number. */
static VALUE worker_listen(VALUE self, VALUE fd, VALUE name, VALUE port)
{
    VALUE name_text = bbr_fixed(rb_obj_as_string(name));
    VALUE port_text = bbr_fixed(rb_obj_as_string(port));
    int descriptor = NUM2INT(fd);
    struct face *face = face_of(self);
    long number = RARRAY_LEN(face->listeners);
    if (number >= BBR_LISTENERS_MAX) rb_raise(rb_eArgError, "more than %d listeners", BBR_LISTENERS_MAX);

    VALUE unix_socket = is_unix_socket(descriptor);
    int code = bb_worker_listen(face->worker->core, descriptor, (unsigned)number);
    if (code < 0) bbr_raise(code);
    rb_ary_push(face->listeners, rb_ary_new_from_args(3, name_text, port_text, unix_socket));
    return LONG2NUM(number);
}

/* count_gc(runs, time): adds garbage collections to the worker's totals. time: us. */
static VALUE worker_count_gc(VALUE self, VALUE runs, VALUE time)
{
    uint64_t added = NUM2ULL(runs), us = NUM2ULL(time);
    bb_worker_count_gc(face_of(self)->worker->core, added, us);
    return Qnil;
}

/* alarm: the number of a descriptor that belongs to the core. The descriptor becomes readable when a request
 * has exceeded request_timeout_soft or request_timeout. Then read 8 bytes from it, and call Lane#time_out and
 * overdue?. */
static VALUE worker_alarm(VALUE self)
{
    return INT2NUM(bb_worker_alarm(face_of(self)->worker->core));
}

/* overdue?: whether a request has exceeded its request_timeout since the last call. */
static VALUE worker_overdue(VALUE self)
{
    return bb_worker_take_overdue(face_of(self)->worker->core) ? Qtrue : Qfalse;
}

/* overdue_is_logged: call this when Lane#overdue has returned every request past request_timeout, and all
 * these requests are logged. */
static VALUE worker_overdue_is_logged(VALUE self)
{
    bb_worker_overdue_is_logged(face_of(self)->worker->core);
    return Qnil;
}

/* event: the next event for the log, [level, message], or nil. This works even while all lanes are busy. */
static VALUE worker_events(VALUE self)
{
    struct bb_event event;
    if (bb_worker_event(face_of(self)->worker->core, &event) != BB_OK) return Qnil;
    return rb_assoc_new(ID2SYM(rb_intern(bbr_event_level(&event))), bbr_event_text(&event));
}

/* tell(fd, bytes): at each of these events, the core writes the event's byte of the String `bytes` to fd,
 * even if Ruby hangs. Call this before start_io_thread.
 *
 *   byte 0   a request has exceeded request_timeout, and other lanes can serve
 *   byte 1   the requests of all lanes have exceeded request_timeout
 *   byte 2   after byte 1: no other connection is left, and these requests are logged
 *   byte 3   no connection can be accepted, because descriptors have run out */
static VALUE worker_tell(VALUE self, VALUE fd, VALUE bytes)
{
    int descriptor = NUM2INT(fd);
    if (RSTRING_LEN(StringValue(bytes)) != BB_TELLS) rb_raise(rb_eArgError, "not %d bytes", BB_TELLS);
    bb_worker_tell(face_of(self)->worker->core, descriptor, RSTRING_PTR(bytes), true);
    RB_GC_GUARD(bytes);
    return Qnil;
}

/* Starts the I/O thread. It serves the connections of lanes whose application takes long, and never runs
 * Ruby. */
static VALUE worker_start_io_thread(VALUE self)
{
    int code = bb_worker_start_io_thread(face_of(self)->worker->core);
    if (code < 0) bbr_raise(code);
    return Qnil;
}

static void *without_gvl_drain(void *core)
{
    bb_worker_drain(core, BB_QUEUE_TAKE);
    return NULL;
}

static VALUE drain(VALUE worker)
{
    rb_thread_call_without_gvl(without_gvl_drain, ((struct bbr_worker *)worker)->core, NULL, NULL);
    return Qnil;
}

static VALUE release(VALUE worker)
{
    bbr_worker_release((struct bbr_worker *)worker);
    return Qnil;
}

/* drain: begins the graceful end. Connections that no process has accepted yet are accepted. Any thread may
 * call it. */
static VALUE worker_drain(VALUE self)
{
    VALUE worker = (VALUE)bbr_worker_hold(self); /* another thread may call close */
    return rb_ensure(drain, worker, release, worker);
}

/* retire: like drain, but leaves connections that no process has accepted yet to the other processes, which
 * still listen. */
static VALUE worker_retire(VALUE self)
{
    bb_worker_drain(face_of(self)->worker->core, BB_QUEUE_LEAVE);
    return Qnil;
}

/* reopen_logs: opens the access log again by its name. Any thread may call it. */
static VALUE worker_reopen_logs(VALUE self)
{
    int code = bb_worker_reopen_logs(face_of(self)->worker->core);
    if (code < 0) bbr_raise(code);
    return Qnil;
}

/* out_of_band_after(requests): when the worker has served this number of requests from now on, a lane reports
 * :out_of_band once, as soon as no lane of the worker has anything to do. If the worker is never idle, a lane
 * reports :out_of_band after ten times that number of requests, between two requests. During the report, only
 * other workers accept connections. 0: no report. */
static VALUE worker_out_of_band_after(VALUE self, VALUE requests)
{
    long count = NUM2LONG(requests);
    struct bbr_worker *worker = face_of(self)->worker;
    if (count < 0 || count > INT32_MAX + 1L) rb_raise(rb_eArgError, "no number of requests: %ld", count);
    worker->out_of_band = count > 0 ? worker->requests + (uint64_t)count : BBR_NEVER;
    worker->out_of_band_latest = count > 0 ? worker->requests + (uint64_t)count * LATEST : BBR_NEVER;
    return Qnil;
}

/* beat: shows on the scoreboard that Ruby does not hang. Call it from time to time while the lanes have
 * requests. */
static VALUE worker_beat(VALUE self)
{
    bb_worker_beat(face_of(self)->worker->core);
    return Qnil;
}

/* show_detached(count, waits): shows on the scoreboard how many connections have outlived their requests.
 * waits: whether the process only waits for them, or has waited for them. */
static VALUE worker_show_detached(VALUE self, VALUE count, VALUE waits)
{
    unsigned detached = NUM2UINT(count);
    bb_worker_show_detached(face_of(self)->worker->core, detached, RTEST(waits));
    return Qnil;
}

static VALUE worker_requests(VALUE self)
{
    return ULL2NUM(face_of(self)->worker->requests);
}

/* rest: returns true if the lanes have no request, and have ended none since the last call. If true, the next
 * request is reported as :busy, and the caller need not call beat before that report. */
static VALUE worker_rest(VALUE self)
{
    struct bbr_worker *worker = face_of(self)->worker;
    worker->resting = worker->in_hand == 0 && worker->requests == worker->requests_then;
    worker->requests_then = worker->requests;
    bb_worker_watch(worker->core, !worker->resting);
    return worker->resting ? Qtrue : Qfalse;
}

/* close: ends the I/O thread and closes the descriptors, instead of the GC. If a Lane or a Stream still uses
 * the worker, this happens when the last of them is closed or freed. A second call does nothing. Later calls
 * of other methods raise RuntimeError. */
static VALUE worker_close(VALUE self)
{
    struct face *face;
    TypedData_Get_Struct(self, struct face, &worker_type, face);
    struct bbr_worker *worker = face->worker;
    face->worker = NULL;
    if (worker) bbr_worker_release(worker);
    return Qnil;
}

void bbr_init_worker(VALUE core)
{
    VALUE class = rb_define_class_under(core, "Worker", rb_cObject);
    rb_define_alloc_func(class, worker_allocate);
    rb_define_method(class, "initialize", worker_initialize, -1);
    rb_define_method(class, "listen", worker_listen, 3);
    rb_define_method(class, "count_gc", worker_count_gc, 2);
    rb_define_method(class, "start_io_thread", worker_start_io_thread, 0);
    rb_define_method(class, "alarm", worker_alarm, 0);
    rb_define_method(class, "overdue?", worker_overdue, 0);
    rb_define_method(class, "overdue_is_logged", worker_overdue_is_logged, 0);
    rb_define_method(class, "event", worker_events, 0);
    rb_define_method(class, "tell", worker_tell, 2);
    rb_define_method(class, "drain", worker_drain, 0);
    rb_define_method(class, "retire", worker_retire, 0);
    rb_define_method(class, "reopen_logs", worker_reopen_logs, 0);
    rb_define_singleton_method(class, "check_access_log", worker_check_access_log, 1);
    rb_define_method(class, "out_of_band_after", worker_out_of_band_after, 1);
    rb_define_method(class, "beat", worker_beat, 0);
    rb_define_method(class, "show_detached", worker_show_detached, 2);
    rb_define_method(class, "requests", worker_requests, 0);
    rb_define_method(class, "rest", worker_rest, 0);
    rb_define_method(class, "close", worker_close, 0);
}
