/* Bontebok.xs: what Perl sees of the binding. Bontebok::Core is the server of this process, and
 * Bontebok::Writer is PSGI's streaming writer. */
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

MODULE = Bontebok    PACKAGE = Bontebok::Core

PROTOTYPES: DISABLE

 # Bontebok::Core->new(\%settings, $report): the settings are those of bontebok_settings.h, as text. $report is
 # called with ($level, $message, $exception) for each line of the log. Dies if a setting is wrong.
SV *
new(class, settings, report)
        const char *class
        HV *settings
        SV *report
    CODE:
        RETVAL = newSV(0);
        (void)sv_setref_pv(RETVAL, class, bbp_core_new(aTHX_ settings, report));
        SvREADONLY_on(SvRV(RETVAL)); /* it has a pointer */
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

 # $core->drain: begins the graceful end. Connections that wait in the listeners' queues are served.
void
drain(self)
        SV *self
    CODE:
        bb_worker_drain(core_of(aTHX_ self)->worker, BB_QUEUE_TAKE);

 # $core->stop: serve returns after the current request.
void
stop(self)
        SV *self
    CODE:
        core_of(aTHX_ self)->stops = true;

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
