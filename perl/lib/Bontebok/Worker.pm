package Bontebok::Worker;

# Serves the application in this process: the only process of the server, or one of several workers of a master
# (Bontebok::Prefork).
#
# The only process: TERM and QUIT: the server answers all requests that have come, and ends. INT: it ends after the
# current request. A second INT ends the process at once.
#
# A worker ends when the master orders it (xs/bbp_orders.c). TERM and QUIT: the worker asks the master for a
# replacement; if the master has died, it finishes. INT and HUP: nothing, because a terminal sends them to all
# processes.

use strict;
use warnings;

use Bontebok          ();
use Bontebok::Child   ();
use Bontebok::Log     ();
use Bontebok::Signals ();
use IO::Handle        ();
use POSIX             ();

# PSGI's booleans. A copy of an integer costs less than a copy of perl's own booleans.
use constant { TRUE => 1, FALSE => 0 };

# public: see Bontebok::PublicFiles. listeners: Bontebok::Listeners. The core gets copies of its sockets. Dies with a
# message for the user if a setting is wrong. parent: the process ID of the master; undef: this is the only process.
sub new {
    my ($class, $options, $public, $listeners, $parent) = @_;
    my $core = Bontebok::Core->new($options->settings, \&Bontebok::Log::report, $public);
    my $env  = _env($options, defined $parent ? TRUE : FALSE);
    for my $listener ($listeners->all) {
        my $fd = POSIX::dup(fileno $listener->{socket}) // die "bontebok: cannot listen: $!\n";
        $core->listen($fd, $env, $listener->{name}, $listener->{port});
    }
    return bless { core => $core, parent => $parent }, $class;
}

# Becomes a worker of the master. shared: Bontebok::Shared. channel: the socket to the master. requests: the limit.
sub join {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($self, $shared, $channel, $requests) = @_;
    $self->{core}->join($shared, fileno $channel, Bontebok::Child::BYTES, $requests);
    return;
}

# ready: a code reference that is called when the handlers are set, because a signal may follow at once.
sub run {
    my ($self, $app, $ready) = @_;
    my @handlers = defined $self->{parent} ? $self->_handlers_of_worker : $self->_handlers;
    my $former   = Bontebok::Signals::set(@handlers, Bontebok::Signals::harmless());
    STDERR->autoflush(1);    # psgi.errors is unbuffered, also if the application has pushed a layer on it
    my $done = eval { $ready->(); $self->{core}->serve($app); 1 };
    my $error = $@;
    Bontebok::Signals::restore($former) unless defined $self->{parent};    # a worker's process ends now
    die $error unless $done;    ## no critic (ErrorHandling::RequireCarping): the exception of the caller's code
    return;
}

# ---- signals ----

sub _handlers {
    my ($self) = @_;
    my $core  = $self->{core};
    my $drain = _handler(sub { $core->drain(1) });
    return (TERM => $drain, QUIT => $drain, INT => _handler(sub { $SIG{INT} = 'DEFAULT'; $core->stop }));
}

sub _handlers_of_worker {
    my ($self) = @_;
    my ($core, $parent) = @{$self}{qw(core parent)};
    my $ask = _handler(sub { getppid == $parent ? $core->ask : $core->drain(1) });
    my $nothing = _handler(sub { });
    return (TERM => $ask, QUIT => $ask, INT => $nothing, HUP => $nothing);
}

# Processes that the application forks inherit the handler, but a signal ends them as if there were none.
sub _handler {
    my ($action) = @_;
    my $owner = $$;
    return sub {
        my ($name) = @_;
        return $action->() if $$ == $owner;
        $SIG{$name} = 'DEFAULT';    ## no critic (Variables::RequireLocalizedPunctuationVars): the process ends
        kill $name => $$;
    };
}

# The part of the env that is the same for all requests. The application gets copies of the values.
sub _env {
    my ($options, $multiprocess) = @_;
    my $version = [1, 1];
    Internals::SvREADONLY($_, 1) for @$version;
    Internals::SvREADONLY(@$version, 1);
    my $software = $options->get('server_software');
    return {
        defined $software ? ('SERVER_SOFTWARE' => $software) : (),
        'SCRIPT_NAME'           => '',
        'psgi.version'          => $version,
        'psgi.url_scheme'       => 'http',
        'psgi.errors'           => \*STDERR,
        'psgi.multithread'      => FALSE,
        'psgi.multiprocess'     => $multiprocess,
        'psgi.run_once'         => FALSE,
        'psgi.nonblocking'      => FALSE,
        'psgi.streaming'        => TRUE,
        'psgix.input.buffered'  => TRUE,
        $multiprocess ? ('psgix.harakiri' => TRUE) : (),
    };
}

1;
