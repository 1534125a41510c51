/* Bontebok.xs: what Perl sees of the binding. Bontebok::Core is the server of this process, and
 * Bontebok::Writer is PSGI's streaming writer. Bontebok::Public has the directories of files that the core serves.
 * Bontebok::Shared and Bontebok::Process are for a master. */
#include "bbp_bontebok.h"

/* Returns what the reference refers to. */
static SV *object_of(pTHX_ SV *self, const char *class)
{
    if (!sv_isobject(self) || !sv_derived_from(self, class)) croak("not a %s", class);
    return SvRV(self);
}

static struct bbp_core *core_of(pTHX_ SV *self)
{
    struct bbp_core *core = INT2PTR(struct bbp_core *, SvIV(object_of(aTHX_ self, "Bontebok::Core")));
    if (!core) croak("Bontebok: the server has ended");
    return core;
}

static struct bbp_shared *shared_of(pTHX_ SV *self)
{
    return INT2PTR(struct bbp_shared *, SvIV(object_of(aTHX_ self, "Bontebok::Shared")));
}

static struct bbp_public *public_of(pTHX_ SV *self)
{
    return INT2PTR(struct bbp_public *, SvIV(object_of(aTHX_ self, "Bontebok::Public")));
}

MODULE = Bontebok    PACKAGE = Bontebok::Core

PROTOTYPES: DISABLE

 # Bontebok::Core->new(\%settings, $report, $public): the settings are those of bontebok_settings.h, as text. $report
 # is called with ($level, $message, $exception) for each line of the log. $public: a Bontebok::Public. Dies if a
 # setting is wrong.
SV *
new(class, settings, report, public)
        const char *class
        HV *settings
        SV *report
        SV *public
    CODE:
        RETVAL = newSV(0);
        (void)sv_setref_pv(RETVAL, class, bbp_core_new(aTHX_ settings, report, public_of(aTHX_ public)));
        SvREADONLY_on(SvRV(RETVAL)); /* it has a pointer */
    OUTPUT:
        RETVAL

 # Bontebok::Core::faults(\%settings): why a server cannot begin with these settings, which are right each for
 # itself; undef: it can.
SV *
faults(settings)
        HV *settings
    CODE:
        RETVAL = bbp_settings_faults(aTHX_ settings);
    OUTPUT:
        RETVAL

 # Bontebok::Core::has_setting($name): whether this is the name of a setting.
bool
has_setting(name)
        const char *name
    CODE:
        RETVAL = bb_settings_kind(name) != BB_SETTING_UNKNOWN;
    OUTPUT:
        RETVAL

 # Bontebok::Core::seconds($text): the time that a text means for a setting. The text must be right, see fault.
NV
seconds(text)
        const char *text
    PREINIT:
        struct bb_settings settings;
        char fault[BB_FAULT_MAX];
    CODE:
        bb_settings_init(&settings);
        (void)bb_settings_set(&settings, "graceful_timeout", text, fault);
        RETVAL = (NV)settings.graceful_timeout / 1000;
    OUTPUT:
        RETVAL

 # Bontebok::Core::fault($name, $text): why the text is wrong for this setting; undef: it is not.
SV *
fault(name, text)
        const char *name
        const char *text
    PREINIT:
        struct bb_settings settings;
        char fault[BB_FAULT_MAX];
    CODE:
        bb_settings_init(&settings);
        RETVAL = bb_settings_set(&settings, name, text, fault) == BB_OK ? newSV(0) : newSVpv(fault, 0);
    OUTPUT:
        RETVAL

 # $core->listen($fd, \%env, $server_name, $server_port): the core takes over the descriptor. env is the fixed
 # part of the env of this listener's requests.
void
listen(self, fd, env, name, port)
        SV *self
        int fd
        HV *env
        SV *name
        SV *port
    CODE:
        bbp_core_listen(aTHX_ core_of(aTHX_ self), fd, env, name, port);

 # $core->serve($app): returns when the server is drained or stopped.
void
serve(self, app)
        SV *self
        SV *app
    PREINIT:
        struct bbp_core *core;
    CODE:
        core = core_of(aTHX_ self);
        PUSHSTACKi(PERLSI_UNKNOWN); /* `last` and `next` of the application find no loop of the server */
        PUTBACK;
        bbp_core_serve(aTHX_ core, SvRV(self), app);
        SPAGAIN;
        POPSTACK;

 # $core->join($shared, $fd, $bytes, $requests): this process is a worker. $fd is its socket to the master. $bytes
 # has a byte for each word (overdue, stuck, emptied, starved, leave, ready) and each order (leave, finish, stop).
 # After this number of requests the worker asks for a replacement; 0: never. Call it before serve.
void
join(self, shared, fd, bytes, requests)
        SV *self
        SV *shared
        int fd
        SV *bytes
        UV requests
    PREINIT:
        struct bbp_core *core;
    CODE:
        core = core_of(aTHX_ self);
        bbp_shared_join(aTHX_ core, shared_of(aTHX_ shared), fd, bytes);
        core->requests_left = requests;

 # $core->drain($all): begins the graceful end. The connections that wait in the listeners' queues are served here
 # ($all), or by other workers.
void
drain(self, all)
        SV *self
        bool all
    CODE:
        bbp_shared_drain(core_of(aTHX_ self), all);

 # $core->ask: asks the master for a replacement.
void
ask(self)
        SV *self
    CODE:
        bbp_shared_tell(core_of(aTHX_ self), BBP_WORD_LEAVE);

 # $core->stop: serve returns after the current request.
void
stop(self)
        SV *self
    CODE:
        atomic_store(&core_of(aTHX_ self)->stops, true);

void
DESTROY(self)
        SV *self
    PREINIT:
        struct bbp_core *core;
    CODE:
        core = INT2PTR(struct bbp_core *, SvIV(object_of(aTHX_ self, "Bontebok::Core")));
        SvIV_set(SvRV(self), 0);
        if (core) bbp_core_free(aTHX_ core);

 # A new thread gets no copy of the server.
int
CLONE_SKIP(class)
        SV *class
    CODE:
        PERL_UNUSED_VAR(class);
        RETVAL = 1;
    OUTPUT:
        RETVAL

MODULE = Bontebok    PACKAGE = Bontebok::Public

 # Bontebok::Public->new(\%settings): opens the directories of the setting public, for all workers that this process
 # forks. Dies with a sentence that begins with the setting's name, such as "public: /x: No such file or directory".
SV *
new(class, settings)
        const char *class
        HV *settings
    CODE:
        RETVAL = newSV(0);
        (void)sv_setref_pv(RETVAL, class, bbp_public_open(aTHX_ settings));
        SvREADONLY_on(SvRV(RETVAL)); /* it has a pointer */
    OUTPUT:
        RETVAL

void
DESTROY(self)
        SV *self
    CODE:
        bbp_public_release(public_of(aTHX_ self));

int
CLONE_SKIP(class)
        const char *class
    CODE:
        PERL_UNUSED_VAR(class);
        RETVAL = 1;
    OUTPUT:
        RETVAL

MODULE = Bontebok    PACKAGE = Bontebok::Shared

 # Bontebok::Shared->new($lanes): what a master and its workers share.
SV *
new(class, lanes)
        const char *class
        unsigned lanes
    CODE:
        RETVAL = newSV(0);
        (void)sv_setref_pv(RETVAL, class, bbp_shared_new(aTHX_ lanes));
        SvREADONLY_on(SvRV(RETVAL)); /* it has a pointer */
    OUTPUT:
        RETVAL

 # Bontebok::Shared::is_possible(): whether this system has what workers need. If not, one process serves.
bool
is_possible()
    CODE:
#ifdef BB_PORTABLE
        RETVAL = false;
#else
        RETVAL = true;
#endif
    OUTPUT:
        RETVAL

 # $shared->clear($pid): a worker has ended.
void
clear(self, pid)
        SV *self
        int pid
    CODE:
        bbp_shared_clear(shared_of(aTHX_ self), pid);

 # $shared->label($pid): method and path of the request that this worker has had for long.
SV *
label(self, pid)
        SV *self
        int pid
    CODE:
        RETVAL = bbp_shared_label(aTHX_ shared_of(aTHX_ self), pid);
    OUTPUT:
        RETVAL

void
DESTROY(self)
        SV *self
    CODE:
        bbp_shared_release(shared_of(aTHX_ self));

int
CLONE_SKIP(class)
        const char *class
    CODE:
        PERL_UNUSED_VAR(class);
        RETVAL = 1;
    OUTPUT:
        RETVAL

MODULE = Bontebok    PACKAGE = Bontebok::Process

 # hold_signals($hold): blocks the signals that a master or a worker handles, or unblocks them.
void
hold_signals(hold)
        bool hold
    CODE:
        bbp_process_hold_signals(hold);

 # wait_for(\@descriptors, $ms): waits until one is readable, a signal that is held has come, or the time is over;
 # -1: no limit.
void
wait_for(descriptors, ms)
        SV *descriptors
        int ms
    CODE:
        if (!SvROK(descriptors) || SvTYPE(SvRV(descriptors)) != SVt_PVAV) croak("not an array reference");
        bbp_process_wait(aTHX_ (AV *)SvRV(descriptors), ms);

 # state($pid): ("ended", $status), ("stopped", ...), ("continued", ...), or an empty list.
void
state(pid)
        int pid
    PREINIT:
        int status = 0;
        const char *state;
    PPCODE:
        state = bbp_process_state(pid, &status);
        if (!state) XSRETURN_EMPTY;
        EXTEND(SP, 2);
        mPUSHp(state, strlen(state));
        mPUSHi(status);

 # ended_child(): a child that has ended, and for which nobody has waited; 0: there is none.
int
ended_child()
    CODE:
        RETVAL = (int)bbp_process_ended_child();
    OUTPUT:
        RETVAL

 # follow($parent): this process gets TERM when its parent dies. False: it has died already.
bool
follow(parent)
        int parent
    CODE:
        RETVAL = bbp_process_follow(parent);
    OUTPUT:
        RETVAL

MODULE = Bontebok    PACKAGE = Bontebok::Writer

 # $writer->write($bytes): returns true. Dies if the client has gone, so that an endless stream ends.
void
write(self, part)
        SV *self
        SV *part
    CODE:
        bbp_writer_write(aTHX_ object_of(aTHX_ self, "Bontebok::Writer"), part);
        XSRETURN_YES;

void
close(self)
        SV *self
    CODE:
        bbp_writer_close(aTHX_ object_of(aTHX_ self, "Bontebok::Writer"));

int
CLONE_SKIP(class)
        SV *class
    CODE:
        PERL_UNUSED_VAR(class);
        RETVAL = 1;
    OUTPUT:
        RETVAL
