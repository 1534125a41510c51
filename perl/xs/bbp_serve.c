/* bbp_serve.c: the loop that serves requests. For each request serve_requests() calls serve_request(), and
 * serve_request() calls the XSUB respond() inside an eval. bbp_serve() also catches the application's
 * exit(). */
#include "bbp_bontebok.h"

/* ---- a request's life ---- */

/* Returns what the application returns: a mortal. */
static SV *call_app(pTHX_ struct bbp_core *core, HV *env)
{
    dSP;
    PUSHMARK(SP);
    XPUSHs(sv_2mortal(newRV_inc((SV *)env)));
    PUTBACK;
    (void)call_sv(core->app, G_SCALAR);
    SPAGAIN;
    SV *response = POPs;
    PUTBACK;
    return response;
}

static void call_and_reply(pTHX_ struct bbp_core *core)
{
    HV *env = bbp_env_new(aTHX_ core);
    if (!env) {
        bbp_send_text(core, 400, "400 Bad Request\n");
        return;
    }
    if (core->shared) core->exchange.env = (HV *)SvREFCNT_inc_simple_NN((SV *)env);
    SV *response = call_app(aTHX_ core, env), *code;
    if (bbp_is_child(core)) bbp_leave_child(aTHX_ EXIT_SUCCESS);
    (void)sv_2mortal(SvREFCNT_inc_NN(response)); /* an XSUB may return a value that nobody else keeps */
    AV *array = bbp_array_of(aTHX_ response);
    if (array)
        bbp_reply(aTHX_ core, array);
    else if ((code = bbp_code_of(aTHX_ response)))
        bbp_stream_run(aTHX_ core, code);
    else
        croak("Bontebok: the application must return an array reference or a code reference");
}

/* The part of a request that may raise. */
static XSPROTO(respond)
{
    dXSARGS;
    struct bbp_core *core = CvXSUBANY(cv).any_ptr;
    PERL_UNUSED_VAR(items);
    bbp_signal_is_deferred = false;
    call_and_reply(aTHX_ core);
    core->exchange.returned = true;
    XSRETURN_EMPTY;
}

CV *bbp_serve_respond(pTHX_ struct bbp_core *core)
{
    CV *function = newXS(NULL, respond, __FILE__);
    CvXSUBANY(function).any_ptr = core;
    return function;
}

/* Sends a 500 if the client has got nothing yet. error: NULL: the application has called exit(). */
static void fail(pTHX_ struct bbp_core *core, SV *error)
{
    struct bbp_exchange *exchange = &core->exchange;
    if (!exchange->gone && error) bbp_report_failure(aTHX_ core, "", error);
    if (bbp_is_child(core)) bbp_leave_child(aTHX_ EXIT_FAILURE);
    exchange->answered = true; /* a responder that the application calls now sends nothing */
    exchange->streams = false;
    if (!exchange->gone && !exchange->complete && !bb_reply_sent(core->lane))
        bbp_send_text(core, 500, "500 Internal Server Error\n");
}

/* PSGI: the server calls `close` when it is done with the body, in every case. `close` may take long. */
static void close_body(pTHX_ struct bbp_core *core)
{
    SV *body = sv_2mortal(core->exchange.body);
    core->exchange.body = NULL;
    bb_reply_pause(core->lane);
    dSP;
    PUSHMARK(SP);
    XPUSHs(body);
    PUTBACK;
    (void)call_method("close", G_VOID | G_DISCARD | G_EVAL);
    if (bbp_has_raised(aTHX))
        bbp_report_failure(aTHX_ core, ": the body's close has failed", sv_mortalcopy(ERRSV));
    if (bbp_is_child(core)) bbp_leave_child(aTHX_ EXIT_SUCCESS);
}

/* The request, and so its name, are freed when the reply ends. */
static void end_reply(pTHX_ struct bbp_core *core)
{
    struct bbp_label label = bbp_report_label(core);
    core->exchange.request = NULL;
    int code = bb_reply_end(core->lane);
    if (code != BB_ESHORT && code != BB_ECHUNKS) return;
    bbp_report(aTHX_ core, "error", newSVpvf("%.*s: %s", (int)label.len, label.text, bb_error_text(code)),
               NULL);
}

/* Must not raise. The application may have tied the hash, or may have restricted it (Hash::Util): then a
 * fetch of an absent key raises. */
static HE *harakiri_of(pTHX_ struct bbp_core *core, HV *env)
{
    SV *name = core->names[BBP_HARAKIRI];
    if (mg_find((SV *)env, PERL_MAGIC_tied) || !hv_exists_ent(env, name, SvSHARED_HASH(name))) return NULL;
    return hv_fetch_ent(env, name, 0, SvSHARED_HASH(name));
}

/* The application ends its worker by psgix.harakiri.commit (PSGI::Extensions), also in its body's close. */
static void take_harakiri(pTHX_ struct bbp_core *core)
{
    if (!core->exchange.env) return;
    SV *env = sv_2mortal((SV *)core->exchange.env);
    core->exchange.env = NULL;
    HE *entry = harakiri_of(aTHX_ core, (HV *)env);
    if (!entry || !(SvROK(HeVAL(entry)) || SvTRUE_nomg(HeVAL(entry)))) return;
    bbp_shared_tell(core, BBP_WORD_LEAVE);
    bbp_shared_drain(core, false);
}

/* Gives the request back to the core. */
static void end_request(pTHX_ struct bbp_core *core)
{
    struct bbp_exchange *exchange = &core->exchange;
    bool unfinished = exchange->streams && !exchange->gone && exchange->returned;
    exchange->streams = false;
    if (unfinished) bbp_report_failure(aTHX_ core, ": the writer was not closed", NULL);
    bbp_stream_detach(aTHX_ core);
    take_harakiri(aTHX_ core);
    if (exchange->complete && !exchange->gone)
        end_reply(aTHX_ core);
    else
        bb_reply_abort(core->lane);
    exchange->request = NULL;
}

static void serve_request(pTHX_ struct bbp_core *core, const struct bb_request *request)
{
    dSP;
    core->exchange = (struct bbp_exchange){.request = request};
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    (void)call_sv((SV *)core->respond, G_VOID | G_DISCARD | G_EVAL);
    bbp_signal_is_deferred = true;
    if (!core->exchange.returned) fail(aTHX_ core, sv_mortalcopy(ERRSV));
    if (core->exchange.body) close_body(aTHX_ core);
    end_request(aTHX_ core);
    FREETMPS;
    bbp_input_release(aTHX_ core);
    FREETMPS; /* Perl makes what a handle holds mortal */
    LEAVE;
}

/* ---- the loop ---- */

static void be_idle(pTHX_ struct bbp_core *core)
{
    bbp_report_events(aTHX_ core);
    (void)bb_lane_wait(core->lane);
}

/* At its limit of requests, a worker asks for a replacement, and serves until then. */
static void count_request(struct bbp_core *core)
{
    if (core->requests_left > 0 && --core->requests_left == 0) bbp_shared_tell(core, BBP_WORD_LEAVE);
}

static void serve_requests(pTHX_ struct bbp_core *core)
{
    const struct bb_request *request;
    int code;
    /* Signals that have come before bbp_signal_begin() do not end a wait. */
    if (bbp_signal_is_pending(aTHX)) bbp_signal_dispatch(aTHX_ core);
    while (!core->stops && (code = bb_lane_next(core->lane, &request)) != BB_DRAINED) {
        if (code == BB_OK) {
            serve_request(aTHX_ core, request);
            count_request(core);
        } else if (code == BB_AGAIN)
            be_idle(aTHX_ core);
        else
            bbp_report_events(aTHX_ core);
        if (bbp_signal_is_pending(aTHX)) bbp_signal_dispatch(aTHX_ core);
    }
    /* A process that the application has forked in a signal handler or in a DESTROY. */
    if (bbp_is_child(core)) bbp_leave_child(aTHX_ EXIT_SUCCESS);
}

/* ---- exit() ---- */

/* Perl has left all scopes, and has jumped to bbp_serve(). PL_op and PL_curcop still point to the place that
 * has called exit(), and the code there may be freed, for example that of a string eval. */
static void clean_up(pTHX_ struct bbp_core *core)
{
    PL_op = NULL;
    PL_curcop = core->caller;
    while (PL_scopestack_ix > core->scope) LEAVE;
    FREETMPS;
}

/* The log may be a handle of the application that calls exit(), in every call. */
static void report_exit(pTHX_ struct bbp_core *core)
{
    bool again = core->reports_exit;
    core->reports_exit = !again;
    if (again) return;
    bbp_report_failure(aTHX_ core, ": the application has called exit(), and the process ends", NULL);
    core->reports_exit = false;
}

/* The process ends when the lane is drained, and with the status of the first exit(). Perl then runs the END
 * blocks. Each of the functions that this function calls may run Perl code that calls exit() again. */
static void take_exit(pTHX_ struct bbp_core *core)
{
    if (!core->exits) core->exit_status = STATUS_EXIT;
    core->exits = true;
    clean_up(aTHX_ core);
    report_exit(aTHX_ core);
    if (core->exchange.request) {
        if (!core->exchange.returned) fail(aTHX_ core, NULL);
        if (core->exchange.body) close_body(aTHX_ core);
        end_request(aTHX_ core);
    }
    bbp_shared_tell(core, BBP_WORD_LEAVE);
    bbp_shared_drain(core, false);
}

/* The reasons for which Perl jumps to the innermost JMPENV_PUSH (perl's cop.h). */
enum reason { BEGIN = 0, EXIT = 2 };

void bbp_serve(pTHX_ struct bbp_core *core)
{
    int reason;
    dJMPENV;
    core->scope = PL_scopestack_ix;
    core->caller = PL_curcop;
    JMPENV_PUSH(reason);
    if (reason != BEGIN && (reason != EXIT || bbp_is_child(core))) {
        JMPENV_POP;
        bbp_signal_is_deferred = false;
        JMPENV_JUMP(reason); /* a forked child exits; or an exception that is not ours */
    }
    bbp_signal_is_deferred = true;
    if (reason == EXIT) take_exit(aTHX_ core);
    serve_requests(aTHX_ core);
    JMPENV_POP;
    bbp_signal_is_deferred = false;
    if (!core->exits) return;
    bbp_process_hold_signals(true); /* Perl restores other handlers while it ends */
    my_exit((U32)core->exit_status);
}
