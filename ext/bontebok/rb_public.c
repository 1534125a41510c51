/* rb_public.c: Bontebok::Core::Public: the open directories of the option `public`, and the fields of
 * `public_headers`. A process opens the directories before it loads the application. It passes the object to
 * its Worker, and so do the processes that it forks later. */
#include "rb_bontebok.h"

#include <errno.h>
#include <ruby/thread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void public_free(void *public)
{
    if (public) bbr_public_release(public);
}

static const rb_data_type_t public_type = {
    .wrap_struct_name = "Bontebok::Core::Public",
    .function = {.dfree = public_free},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static VALUE public_allocate(VALUE class)
{
    return TypedData_Wrap_Struct(class, &public_type, NULL);
}

struct bbr_public *bbr_public_hold(VALUE object)
{
    struct bbr_public *public = rb_check_typeddata(object, &public_type);
    if (!public) rb_raise(rb_eRuntimeError, "uninitialized or closed Bontebok::Core::Public");
    public->holders++;
    return public;
}

void bbr_public_release(struct bbr_public *public)
{
    if (--public->holders > 0) return;
    /* In a child that was forked later, these descriptor numbers may belong to other files. */
    if (public->pid == getpid()) bb_public_free(public->core);
    free(public);
}

struct opening {
    struct bbr_public *public;
    struct bb_settings settings;
    char fault[BB_FAULT_MAX];
    int code;
};

static void *without_gvl_open(void *data)
{
    struct opening *opening = data;
    opening->code = bb_public_open(&opening->public->core, &opening->settings, opening->fault);
    return NULL;
}

/* Public.new(settings): the settings are those of Worker.new. Raises ArgumentError with the reason if a
 * directory cannot be opened, or a line of public_headers is wrong. */
static VALUE public_initialize(VALUE self, VALUE given)
{
    struct opening opening = {.settings = bbr_settings_of(given)};
    if (rb_check_typeddata(self, &public_type)) rb_raise(rb_eRuntimeError, "already initialized");
    struct bbr_public *public = calloc(1, sizeof *public);
    if (!public) rb_memerror();
    public->pid = getpid();
    public->holders = 1;
    RTYPEDDATA_DATA(self) = opening.public = public; /* the call may raise an exception of another thread */
    rb_thread_call_without_gvl(without_gvl_open, &opening, NULL, NULL);
    if (opening.code == BB_EFORMAT || opening.code == BB_ESYSTEM)
        rb_exc_raise(rb_exc_new_str(rb_eArgError, rb_utf8_str_new_cstr(opening.fault)));
    if (opening.code < 0) bbr_raise(opening.code);
    return self;
}

/* close: closes the directories, instead of the GC. If a Worker still uses them, this happens when the Worker
 * is closed or freed. A second call does nothing. */
static VALUE public_close(VALUE self)
{
    struct bbr_public *public = rb_check_typeddata(self, &public_type);
    RTYPEDDATA_DATA(self) = NULL;
    if (public) bbr_public_release(public);
    return Qnil;
}

void bbr_init_public(VALUE core)
{
    VALUE class = rb_define_class_under(core, "Public", rb_cObject);
    rb_define_alloc_func(class, public_allocate);
    rb_define_method(class, "initialize", public_initialize, 1);
    rb_define_method(class, "close", public_close, 0);
}
