/* rb_worker_links.c: the methods of Bontebok::Core::Worker that give it what it shares with other processes:
 * the queue, the scoreboard, the metrics, and the directories of the option `public`. lib calls them before
 * the first lane is made. See rb_worker.c for the class. */
#include "rb_bontebok.h"

#include <ruby/thread.h>

/* share_queue(in, out): the core takes over both ends of a SOCK_SEQPACKET pair. Workers pass connections on
 * through this pair. Call share_queue before the first lane is made. */
static VALUE worker_share_queue(VALUE self, VALUE in, VALUE out)
{
    int in_fd = NUM2INT(in), out_fd = NUM2INT(out);
    int code = bb_worker_share_queue(bbr_worker_of(self)->core, in_fd, out_fd);
    if (code < 0) bbr_raise(code);
    return Qnil;
}

/* scoreboard(scoreboard, counter = scoreboard): shows this worker's lanes on the scoreboard. Then a busy lane
 * passes connections on to idle lanes of other processes. counter: the Scoreboard on which all servers that
 * share the queue count its requests. Call this before start_io_thread and the first lane. */
static VALUE worker_scoreboard(int argc, VALUE *argv, VALUE self)
{
    VALUE scoreboard, counter;
    struct bbr_worker *worker = bbr_worker_of(self);
    if (rb_scan_args(argc, argv, "11", &scoreboard, &counter) == 1) counter = scoreboard;
    if (worker->scoreboard) rb_raise(rb_eRuntimeError, "the worker has a scoreboard already");
    worker->scoreboard = bbr_scoreboard_hold(scoreboard);
    worker->counter = bbr_scoreboard_hold(counter);
    bb_worker_scoreboard(worker->core, worker->scoreboard->core);
    bb_worker_queue_counter(worker->core, worker->counter->core);
    return Qnil;
}

/* metrics(metrics, number, generation): lets this worker's lanes count. The metrics have as many lanes as the
 * scoreboard. Call this before start_io_thread and the first lane. */
static VALUE worker_metrics(VALUE self, VALUE metrics, VALUE number, VALUE generation)
{
    struct bbr_worker *worker = bbr_worker_of(self);
    unsigned own = NUM2UINT(number), of = NUM2UINT(generation);
    if (worker->metrics) rb_raise(rb_eRuntimeError, "the worker has metrics already");
    worker->metrics = bbr_metrics_hold(metrics);
    bb_worker_metrics(worker->core, worker->metrics->core, own, of);
    return Qnil;
}

struct reading {
    struct bbr_worker *worker;
    int code;
};

static void *without_gvl_read_names(void *data)
{
    struct reading *reading = data;
    reading->code = bb_worker_public(reading->worker->core, reading->worker->pub->core);
    return NULL;
}

static VALUE read_names(VALUE argument)
{
    struct reading *reading = (struct reading *)argument;
    rb_thread_call_without_gvl(without_gvl_read_names, reading, NULL, NULL);
    if (reading->code < 0) bbr_raise(reading->code);
    return Qnil;
}

static VALUE release(VALUE worker)
{
    bbr_worker_release((struct bbr_worker *)worker);
    return Qnil;
}

/* public(public): lets this worker's lanes serve the files of a Public. Reads the names in the directories,
 * which can take as long as the disk. Call this after scoreboard, and before start_io_thread and the first
 * lane. */
static VALUE worker_public(VALUE self, VALUE public)
{
    struct bbr_worker *worker = bbr_worker_of(self);
    if (worker->pub) rb_raise(rb_eRuntimeError, "the worker has public files already");
    worker->pub = bbr_public_hold(public);
    struct reading reading = {.worker = bbr_worker_hold(self)}; /* another thread may call close */
    return rb_ensure(read_names, (VALUE)&reading, release, (VALUE)reading.worker);
}

void bbr_init_worker_links(VALUE core)
{
    VALUE class = rb_define_class_under(core, "Worker", rb_cObject);
    rb_define_method(class, "share_queue", worker_share_queue, 2);
    rb_define_method(class, "scoreboard", worker_scoreboard, -1);
    rb_define_method(class, "metrics", worker_metrics, 3);
    rb_define_method(class, "public", worker_public, 1);
}
