/* bbp_signal.c: signals with a handler in %SIG, or by POSIX::sigaction(). Perl's C handler only notes the
 * signal, and Perl code runs later, between two operations. While the lane waits for clients, Perl performs
 * no operation. So the binding sets its own C handlers around Perl's handlers, and they end the wait. If the
 * signal comes after the look at PL_sig_pending and before the wait, the wait ends at once. */
#include "bbp_bontebok.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static struct bb_lane *volatile waiting;
static pid_t owner;
static U32 was_unsafe;
static volatile sig_atomic_t has_come;

/* A child that the application has forked shares the lane's descriptor, and must not wake its parent. */
static void note(void)
{
    int error = errno;
    has_come = true;
    if (waiting && getpid() == owner) bb_lane_wake(waiting);
    errno = error;
}

/* Casts go through `any`, because the compiler warns of a direct cast. */
typedef void (*any)(void);
typedef void (*handler_1)(int);
typedef void (*handler_3)(int, siginfo_t *, void *);

/* Perl's C handlers. %SIG uses USUAL. POSIX::sigaction() uses the others, depending on its flags SAFE and
 * SA_SIGINFO. A PROMPT handler runs Perl code at once. Perl before 5.32 has only USUAL, and one prompt
 * handler, which cannot be replaced. */
enum kind { USUAL, SAFE_1, SAFE_3, PROMPT_1, PROMPT_3, KINDS };
static any perls[KINDS];

volatile sig_atomic_t bbp_signal_is_deferred;

static void on_usual_1(int number)
{
    ((handler_1)perls[USUAL])(number);
    note();
}

static void on_usual_3(int number, siginfo_t *info, void *context)
{
    ((handler_3)perls[USUAL])(number, info, context);
    note();
}

/* This handler takes one argument since Perl 5.32, and three before. */
#define ON_USUAL _Generic(PL_csighandlerp, handler_1 : (any)on_usual_1, default : (any)on_usual_3)

#ifdef BBP_FIVE_HANDLERS

static void on_safe_1(int number)
{
    ((handler_1)perls[SAFE_1])(number);
    note();
}

static void on_safe_3(int number, siginfo_t *info, void *context)
{
    ((handler_3)perls[SAFE_3])(number, info, context);
    note();
}

/* An exception of Perl code must not unwind through a frame of the core. So the code runs later there. */
static void on_prompt_1(int number)
{
    ((handler_1)perls[bbp_signal_is_deferred ? SAFE_1 : PROMPT_1])(number);
    note();
}

static void on_prompt_3(int number, siginfo_t *info, void *context)
{
    ((handler_3)perls[bbp_signal_is_deferred ? SAFE_3 : PROMPT_3])(number, info, context);
    note();
}

#endif

static const any ours[KINDS] = {
    [USUAL] = ON_USUAL,
#ifdef BBP_FIVE_HANDLERS
    [SAFE_1] = (any)on_safe_1,
    [SAFE_3] = (any)on_safe_3,
    [PROMPT_1] = (any)on_prompt_1,
    [PROMPT_3] = (any)on_prompt_3,
#endif
};

/* Returns Perl's variable that has its handler, or NULL. The types of these variables differ. */
static void *variable_of(pTHX_ int kind)
{
    switch (kind) {
    case USUAL:
        return &PL_csighandlerp;
#ifdef BBP_FIVE_HANDLERS
    case SAFE_1:
        return &PL_csighandler1p;
    case SAFE_3:
        return &PL_csighandler3p;
    case PROMPT_1:
        return &PL_sighandler1p;
    case PROMPT_3:
        return &PL_sighandler3p;
#endif
    default:
        return NULL;
    }
}

/* Replaces the handler of a signal, and keeps its flags and its mask. sa_handler and sa_sigaction have the
 * same place. */
static void replace(int number, any former, any handler)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0 || (any)action.sa_sigaction != former) return;
    action.sa_sigaction = (handler_3)handler;
    (void)sigaction(number, &action, NULL);
}

static void replace_all(pTHX_ const any former[KINDS], const any handlers[KINDS])
{
    for (int kind = 0; kind < KINDS; kind++) {
        void *variable = variable_of(aTHX_ kind);
        if (!variable) continue;
        memcpy(variable, &handlers[kind], sizeof(any)); /* for handlers that are set later */
        for (int number = 1; number < NSIG; number++) replace(number, former[kind], handlers[kind]);
    }
}

void bbp_signal_begin(pTHX_ struct bbp_core *core)
{
    waiting = core->lane;
    owner = core->pid;
    for (int kind = 0; kind < KINDS; kind++) {
        const void *variable = variable_of(aTHX_ kind);
        /* In a process that was forked inside of a request, the variable has our handler already. */
        if (variable && memcmp(variable, &ours[kind], sizeof(any)) != 0)
            memcpy(&perls[kind], variable, sizeof(any));
    }
    /* With PERL_SIGNALS=unsafe, Perl code would run at once, also inside the core. */
    was_unsafe = PL_signals & PERL_SIGNALS_UNSAFE_FLAG;
    PL_signals &= ~PERL_SIGNALS_UNSAFE_FLAG;
    replace_all(aTHX_ perls, ours);
}

void bbp_signal_end(pTHX_ struct bbp_core *core)
{
    if (!waiting || waiting != core->lane) return;
    replace_all(aTHX_ ours, perls);
    PL_signals |= was_unsafe;
    waiting = NULL;
}

/* ---- Perl's handlers ---- */

static XSPROTO(run_handlers)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    PERL_ASYNC_CHECK();
    XSRETURN_EMPTY;
}

CV *bbp_signal_handlers(pTHX)
{
    return newXS(NULL, run_handlers, __FILE__);
}

/* If a handler raises or exits, Perl forgets that other signals have come, until another one comes. So only a
 * run of all handlers clears has_come. */
bool bbp_signal_is_pending(pTHX)
{
    return PL_sig_pending || has_come;
}

void bbp_signal_dispatch(pTHX_ struct bbp_core *core)
{
    dSP;
    PL_sig_pending = 1;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    (void)call_sv((SV *)core->run_handlers, G_VOID | G_DISCARD | G_EVAL);
    if (bbp_has_raised(aTHX))
        bbp_report_failure(aTHX_ core, "", sv_mortalcopy(ERRSV));
    else
        has_come = PL_sig_pending != 0;
    FREETMPS;
    LEAVE;
}
