/* rb_metrics.c: Bontebok::Core::Metrics, the totals of all processes of a server. It is made before the
 * processes are forked, and each worker passes it to its Worker. Every process that has it can read it. */
#include "rb_bontebok.h"

#include <stdlib.h>

static void metrics_free(void *metrics)
{
    if (metrics) bbr_metrics_release(metrics);
}

static const rb_data_type_t metrics_type = {
    .wrap_struct_name = "Bontebok::Core::Metrics",
    .function = {.dfree = metrics_free},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE metrics_allocate(VALUE class)
{
    return TypedData_Wrap_Struct(class, &metrics_type, NULL);
}

static struct bbr_metrics *metrics_of(VALUE self)
{
    struct bbr_metrics *metrics = rb_check_typeddata(self, &metrics_type);
    if (!metrics) rb_raise(rb_eRuntimeError, "uninitialized Bontebok::Core::Metrics");
    return metrics;
}

static struct bbr_metrics *writable(VALUE self)
{
    struct bbr_metrics *metrics = metrics_of(self);
    if (bb_metrics_is_writable(metrics->core)) return metrics;
    rb_raise(rb_eRuntimeError, "these metrics are only for reading");
}

struct bbr_metrics *bbr_metrics_hold(VALUE object)
{
    struct bbr_metrics *metrics = writable(object);
    metrics->holders++;
    return metrics;
}

void bbr_metrics_release(struct bbr_metrics *metrics)
{
    if (--metrics->holders > 0) return;
    bb_metrics_free(metrics->core);
    free(metrics);
}

/* Metrics.new(lanes, fd = nil): lanes is the number of lanes of all processes together, as for the
 * Scoreboard. fd: the number of a descriptor from Metrics.file, which the caller closes; nil: only this
 * process and the processes that it forks use the metrics. If the descriptor is open for reading only, count
 * and note raise. Raises ArgumentError if another version of Bontebok, with another layout, has made the
 * file. */
static VALUE metrics_initialize(int argc, VALUE *argv, VALUE self)
{
    VALUE lanes, fd;
    rb_scan_args(argc, argv, "11", &lanes, &fd);
    if (rb_check_typeddata(self, &metrics_type)) rb_raise(rb_eRuntimeError, "already initialized");
    struct bb_metrics *core;
    int code = NIL_P(fd) ? bb_metrics_new(&core, NUM2UINT(lanes)) : bb_metrics_attach(&core, NUM2INT(fd));
    if (code < 0) bbr_raise(code);
    struct bbr_metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics) {
        bb_metrics_free(core);
        rb_memerror();
    }
    *metrics = (struct bbr_metrics){.core = core, .holders = 1};
    RTYPEDDATA_DATA(self) = metrics;
    return self;
}

/* Metrics.file(lanes): makes a file in memory for metrics that executed processes use as well. Returns the
 * number of its descriptor, which the caller closes. Raises SystemCallError (ENOSYS on systems without
 * memfd_create). */
static VALUE metrics_file(VALUE class, VALUE lanes)
{
    (void)class;
    int fd = bb_metrics_file(NUM2UINT(lanes));
    if (fd < 0) bbr_raise(fd);
    return INT2FIX(fd);
}

/* count(name, number = 1): adds to the total with this name, for events that are rare. */
static VALUE metrics_count(int argc, VALUE *argv, VALUE self)
{
    VALUE name, number;
    rb_scan_args(argc, argv, "11", &name, &number);
    bb_metrics_count(writable(self)->core, StringValueCStr(name), NIL_P(number) ? 1 : NUM2ULL(number));
    return Qnil;
}

static enum bb_note_kind note_kind(VALUE kind)
{
    static const char *const names[BB_NOTE_KINDS] = {[BB_NOTE_DEPLOY] = "deploy", [BB_NOTE_END] = "end"};
    Check_Type(kind, T_SYMBOL);
    for (int i = 0; i < BB_NOTE_KINDS; i++)
        if (rb_sym2id(kind) == rb_intern(names[i])) return (enum bb_note_kind)i;
    rb_raise(rb_eArgError, "a note is about :deploy or :end");
}

/* note(kind, text): keeps a text with the present time. kind: :deploy or :end (of a worker). */
static VALUE metrics_note(VALUE self, VALUE kind, VALUE text)
{
    StringValue(text);
    bb_metrics_note(writable(self)->core, note_kind(kind), RSTRING_PTR(text), (size_t)RSTRING_LEN(text));
    RB_GC_GUARD(text);
    return Qnil;
}

static void put(VALUE hash, const char *name, VALUE value)
{
    rb_hash_aset(hash, ID2SYM(rb_intern(name)), value);
}

static VALUE numbers_of(const uint64_t *numbers, int count, const char *const *names)
{
    VALUE hash = rb_hash_new();
    for (int i = 0; i < count; i++) put(hash, names[i], ULL2NUM(numbers[i]));
    return hash;
}

static VALUE times_of(const uint64_t *times)
{
    VALUE array = rb_ary_new_capa(BB_METRICS_TIMES);
    for (int i = 0; i < BB_METRICS_TIMES; i++) rb_ary_push(array, ULL2NUM(times[i]));
    return array;
}

static VALUE named_totals(const struct bb_metrics *core)
{
    VALUE hash = rb_hash_new();
    struct bb_metrics_name found;
    int code;
    for (unsigned place = 0; (code = bb_metrics_name(core, place, &found)) != BB_EOF; place++)
        if (code == BB_OK) rb_hash_aset(hash, rb_str_new_cstr(found.name), ULL2NUM(found.count));
    return hash;
}

static VALUE probe(const struct bb_metrics *core, enum bb_probe number)
{
    struct bb_metrics_probe found = bb_metrics_probe(core, number);
    VALUE hash = rb_hash_new();
    put(hash, "in_a_row", ULL2NUM(found.in_a_row));
    put(hash, "last", ULL2NUM(found.last));
    return hash;
}

/* totals: a Hash. Its texts and numbers may be anything, because code of an application may have damaged the
 * memory.
 *
 *   counters      { responses_2xx: 5, ... }: see BB_COUNTERS in bontebok_metrics.h
 *   names         { "rejected queue_full" => 5, ... }: the totals of count
 *   ready, live   { in_a_row: responses 503 since the last 200, last: ms since 1970, or 0 }: of the probes
 *   queue_time,
 *   service_time  Arrays with BB_METRICS_TIMES counts */
static VALUE metrics_totals(VALUE self)
{
    const struct bb_metrics *core = metrics_of(self)->core;
    struct bb_metrics_sum sum;
    VALUE hash = rb_hash_new();
    bb_metrics_sum(core, &sum);
    put(hash, "counters", numbers_of(sum.counters, BB_COUNTERS_END, bb_counter_names));
    put(hash, "names", named_totals(core));
    put(hash, "ready", probe(core, BB_PROBE_READY));
    put(hash, "live", probe(core, BB_PROBE_LIVE));
    put(hash, "queue_time", times_of(sum.queue_time));
    put(hash, "service_time", times_of(sum.service_time));
    return hash;
}

static VALUE show(const struct bb_metrics_lane *lane)
{
    VALUE hash = rb_hash_new();
    put(hash, "pid", INT2NUM(lane->pid));
    put(hash, "thread", INT2NUM(lane->thread));
    put(hash, "worker", UINT2NUM(lane->worker));
    put(hash, "generation", UINT2NUM(lane->generation));
    put(hash, "began", ULL2NUM(lane->began));
    put(hash, "gc_time", ULL2NUM(lane->counters[BB_COUNT_GC_TIME]));
    put(hash, "connections", numbers_of(lane->connections, BB_CONNECTIONS_END, bb_connection_names));
    return hash;
}

/* lanes: an Array with a Hash for each slot of the scoreboard that was ever used. Its lane may have ended.
 *
 *   pid          of the lane's process
 *   thread       the lane's thread, as in /proc/PID/task
 *   worker, generation, began (ms since 1970)
 *   gc_time      us, since the lane has begun
 *   connections  { keepalive: 5, ... }: see BB_CONNECTIONS */
static VALUE metrics_lanes(VALUE self)
{
    const struct bb_metrics *core = metrics_of(self)->core;
    VALUE lanes = rb_ary_new();
    struct bb_metrics_lane lane;
    for (unsigned number = 0; bb_metrics_look(core, number, &lane) == BB_OK; number++)
        rb_ary_push(lanes, show(&lane));
    return lanes;
}

/* notes(kind): [[ms since 1970, text], ...], the oldest first. */
static VALUE metrics_notes(VALUE self, VALUE kind)
{
    struct bb_metrics_note notes[BB_METRICS_NOTES];
    unsigned count = bb_metrics_notes(metrics_of(self)->core, note_kind(kind), notes);
    VALUE array = rb_ary_new();
    for (unsigned i = 0; i < count; i++)
        rb_ary_push(array, rb_ary_new_from_args(2, ULL2NUM(notes[i].time), rb_str_new_cstr(notes[i].text)));
    return array;
}

void bbr_init_metrics(VALUE core)
{
    VALUE class = rb_define_class_under(core, "Metrics", rb_cObject);
    /* Two versions with the same LAYOUT can share metrics. */
    rb_define_const(class, "LAYOUT", UINT2NUM(bb_metrics_layout()));
    rb_define_alloc_func(class, metrics_allocate);
    rb_define_singleton_method(class, "file", metrics_file, 1);
    rb_define_method(class, "initialize", metrics_initialize, -1);
    rb_define_method(class, "count", metrics_count, -1);
    rb_define_method(class, "note", metrics_note, 2);
    rb_define_method(class, "totals", metrics_totals, 0);
    rb_define_method(class, "lanes", metrics_lanes, 0);
    rb_define_method(class, "notes", metrics_notes, 1);
}
