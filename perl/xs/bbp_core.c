/* bbp_core.c: the struct behind Bontebok::Core: a worker of the core with one lane, and the SVs that serve
 * all requests. */
#include "bbp_bontebok.h"

#include <stdlib.h>
#include <unistd.h>

struct bbp_core *bbp_core_new(pTHX_ HV *settings, SV *report, struct bbp_public *public)
{
    struct bb_settings values;
    struct bb_worker *worker;
    bbp_settings_read(aTHX_ & values, settings);
    int code = bb_worker_new(&worker, &values);
    if (code < 0) croak("Bontebok: %s", bb_error_text(code));
    struct bbp_core *core = calloc(1, sizeof *core);
    if (!core) {
        (void)bb_worker_free(worker);
        croak("Bontebok: %s", bb_error_text(BB_ENOMEM));
    }
    core->worker = worker;
    core->graceful_timeout = values.graceful_timeout;
    (void)pthread_mutex_init(&core->drain_lock, NULL);
    core->pid = getpid();
    core->public = bbp_public_hold(public);
    core->report = newSVsv(report);
    core->respond = bbp_serve_respond(aTHX_ core);
    core->run_handlers = bbp_signal_handlers(aTHX);
    bbp_env_make_names(aTHX_ core);
    return core;
}

void bbp_core_listen(pTHX_ struct bbp_core *core, int fd, HV *env, SV *name, SV *port)
{
    bool fits = core->listeners < BBP_LISTENERS_MAX;
    int code = fits ? bb_worker_listen(core->worker, fd, core->listeners) : BB_ENOMEM;
    if (code < 0) {
        int error = errno;
        (void)close(fd);
        if (!fits) croak("Bontebok: more than %d listeners", BBP_LISTENERS_MAX);
        croak("Bontebok: %s: %s", bb_error_text(code), Strerror(error));
    }
    core->templates[core->listeners++] = bbp_env_template(aTHX_ core, env, name, port);
}

/* A worker has the scoreboard that it shares with its siblings. */
static int show_alone(struct bbp_core *core)
{
    if (core->shared) return BB_OK;
    int code = bb_scoreboard_new(&core->scoreboard, 1);
    if (code == BB_OK) bb_worker_scoreboard(core->worker, core->scoreboard);
    return code;
}

static void start(pTHX_ struct bbp_core *core)
{
    int code = show_alone(core);
    if (code == BB_OK) code = bbp_public_serve(core);
    if (code == BB_OK) code = bb_worker_start_io_thread(core->worker);
    if (code == BB_OK) code = bb_lane_new(&core->lane, core->worker);
    if (code >= 0 && !bbp_orders_begin(core)) code = BB_ENOMEM;
    if (code >= 0) return;
    bbp_end_serving();
    croak("Bontebok: cannot serve: %s", bb_error_text(code));
}

void bbp_core_serve(pTHX_ struct bbp_core *core, SV *self, SV *app)
{
    if (core->app) croak("Bontebok: serve was called twice");
    if (!bbp_begin_serving(aTHX)) croak("Bontebok: another server runs in this process");
    core->app = newSVsv(app);
    start(aTHX_ core);
    SvREFCNT_inc_simple_void_NN(self); /* exit() clears the variables of all callers */
    bbp_signal_begin(aTHX_ core);
    bbp_shared_tell(core, BBP_WORD_READY);
    bbp_serve(aTHX_ core);
    bbp_signal_end(aTHX_ core);
    bbp_end_serving();
    SvREFCNT_dec(self);
}

void bbp_core_free(pTHX_ struct bbp_core *core)
{
    if (!bbp_is_child(core)) {
        bbp_signal_end(aTHX_ core);
        bbp_orders_end(core);
    }
    bb_lane_free(core->lane);
    if (bb_worker_free(core->worker) == BB_OK) {
        bb_scoreboard_free(core->scoreboard);
        bbp_shared_leave(core);
        bbp_public_release(core->public);
    }
    for (unsigned i = 0; i < core->listeners; i++) SvREFCNT_dec(core->templates[i]);
    for (int i = 0; i < BBP_NAMES; i++) SvREFCNT_dec(core->names[i]);
    for (int i = 0; i < BBP_IDS; i++)
        if (core->keys[i] != &PL_sv_undef) SvREFCNT_dec(core->keys[i]);
    SvREFCNT_dec(core->no_input);
    SvREFCNT_dec(core->respond);
    SvREFCNT_dec(core->run_handlers);
    SvREFCNT_dec(core->report);
    SvREFCNT_dec(core->app);
    (void)pthread_mutex_destroy(&core->drain_lock);
    free(core);
}
