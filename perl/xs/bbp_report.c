/* bbp_report.c: reports to lib (the server's Perl code), which writes the log, and the end of a process that
 * the application has forked. */
#include "bbp_bontebok.h"

#include <string.h>
#include <unistd.h>

void bbp_report(pTHX_ struct bbp_core *core, const char *level, SV *message, SV *error)
{
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    EXTEND(SP, 3);
    PUSHs(sv_2mortal(newSVpv(level, 0)));
    PUSHs(sv_2mortal(message));
    PUSHs(error ? error : &PL_sv_undef);
    PUTBACK;
    (void)call_sv(core->report, G_VOID | G_DISCARD | G_EVAL | G_KEEPERR);
    FREETMPS;
    LEAVE;
}

/* As in nginx, the mistakes of clients are no warnings. */
static void report_event(pTHX_ struct bbp_core *core, const struct bb_event *event)
{
    SV *text = newSVpv(event->peer, 0);
    if (SvCUR(text) > 0) sv_catpvs(text, ": ");
    sv_catpv(text, event->text);
    if (event->status) sv_catpvf(text, " (%d)", event->status);
    if (event->error) sv_catpvf(text, ": %s", strerror(event->error));
    if (event->left_out) sv_catpvf(text, ", and %u more like it", event->left_out);
    bbp_report(aTHX_ core, event->by_client ? "info" : "warn", text, NULL);
}

void bbp_report_events(pTHX_ struct bbp_core *core)
{
    struct bb_event event;
    while (bb_lane_event(core->lane, &event) == BB_OK) report_event(aTHX_ core, &event);
    while (bb_worker_event(core->worker, &event) == BB_OK) report_event(aTHX_ core, &event);
}

static void add(struct bbp_label *label, struct bb_slice text)
{
    size_t room = sizeof label->text - label->len, len = text.len < room ? text.len : room;
    if (len > 0) memcpy(label->text + label->len, text.at, len);
    label->len += len;
}

struct bbp_label bbp_report_label(const struct bbp_core *core)
{
    const struct bb_head *head = &core->exchange.request->head;
    struct bbp_label label;
    label.len = 0;
    add(&label, head->method);
    add(&label, (struct bb_slice){" ", 1});
    add(&label, head->path);
    return label;
}

void bbp_report_failure(pTHX_ struct bbp_core *core, const char *text, SV *error)
{
    SV *message = newSVpvs("outside of a request");
    if (core->exchange.request) {
        struct bbp_label label = bbp_report_label(core);
        sv_setpvn(message, label.text, label.len);
    }
    sv_catpv(message, text);
    bbp_report(aTHX_ core, "error", message, error);
}

/* ---- processes and threads that the application starts inside of a request ---- */

bool bbp_is_child(const struct bbp_core *core)
{
    return getpid() != core->pid;
}

static pid_t serving_process; /* 0: no server runs */
#ifdef MULTIPLICITY
static PerlInterpreter *serving_thread;
#endif

bool bbp_begin_serving(pTHX)
{
    if (serving_process == getpid()) return false;
    serving_process = getpid();
#ifdef MULTIPLICITY
    serving_thread = aTHX;
#endif
    return true;
}

void bbp_end_serving(void)
{
    serving_process = 0;
#ifdef MULTIPLICITY
    serving_thread = NULL;
#endif
}

bool bbp_is_other_thread(pTHX)
{
#ifdef MULTIPLICITY
    return serving_thread != aTHX;
#else
    return false;
#endif
}

void bbp_leave_child(pTHX_ int status)
{
    (void)PerlIO_flush(NULL); /* all handles */
    _exit(status);            /* the END blocks belong to the server */
}
