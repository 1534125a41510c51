/* rb_init.c: the entry point for Ruby. It defines the module Bontebok::Core and its SETTINGS, and calls the
 * init function of each file. */
#include "rb_bontebok.h"

/* True: the core was built without the calls of Linux, and serves with one process. */
#ifdef BB_PORTABLE
#define IS_PORTABLE Qtrue
#else
#define IS_PORTABLE Qfalse
#endif

static VALUE settings_hash(void)
{
    VALUE settings = rb_hash_new();
#define ADD_SETTING(name, kind, default_value)                                                               \
    rb_hash_aset(settings, ID2SYM(rb_intern(#name)), ULL2NUM((uint64_t)(default_value)));
    BB_SETTINGS(ADD_SETTING)
#undef ADD_SETTING
    return rb_obj_freeze(settings);
}

RUBY_FUNC_EXPORTED void Init_bontebok(void)
{
    VALUE bontebok = rb_define_module("Bontebok");
    VALUE core = rb_define_module_under(bontebok, "Core");

    rb_define_const(core, "SETTINGS", settings_hash());
    rb_define_const(core, "PORTABLE", IS_PORTABLE);
    bbr_init_util(bontebok, core);
    bbr_init_env_keys();
    bbr_init_env();
    bbr_init_file();
    bbr_init_reply();
    bbr_init_failed();
    bbr_init_error();
    bbr_init_input(core);
    bbr_init_input_read(core);
    bbr_init_input_lines(core);
    bbr_init_each();
    bbr_init_finish();
    bbr_init_protocol();
    bbr_init_stream(core);
    bbr_init_hijack();
    bbr_init_scoreboard(core);
    bbr_init_metrics(core);
    bbr_init_public(core);
    bbr_init_worker(core);
    bbr_init_worker_links(core);
    bbr_init_serve();
    bbr_init_lane(core);
    bbr_init_lane_time(core);
    bbr_init_lane_calls(core);
    bbr_init_process(core);
}
