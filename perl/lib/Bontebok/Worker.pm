package Bontebok::Worker;

# Serves the application in this process, until a signal ends it. TERM and QUIT: the server answers all requests that
# have come, and ends. INT: it ends after the current request. A second INT ends the process at once.

use strict;
use warnings;

use Bontebok      ();
use Bontebok::Log ();
use IO::Handle    ();
use POSIX         ();

# PSGI's booleans. A copy of an integer costs less than a copy of perl's own booleans.
use constant { TRUE => 1, FALSE => 0 };

# listeners: Bontebok::Listeners, which closes its sockets here. Dies with a message for the user if a setting is wrong.
sub new {
    my ($class, $options, $listeners) = @_;
    my $core = Bontebok::Core->new($options->settings, \&Bontebok::Log::report);
    my $env  = _env($options);
    for my $listener ($listeners->all) {
        my $fd = POSIX::dup(fileno $listener->{socket}) // die "bontebok: cannot listen: $!\n";
        $core->listen($fd, $env, $listener->{name}, $listener->{port});
    }
    $listeners->close;
    return bless { core => $core }, $class;
}

# ready: a code reference that is called when the handlers are set, because a signal may follow at once.
# Handlers are set without `local`: exit() would restore the former ones while the server still answers requests.
sub run {
    my ($self, $app, $ready) = @_;
    my $core     = $self->{core};
    my @harmless = grep { exists $SIG{$_} } qw(PIPE XFSZ);
    my %former   = map  { $_ => $SIG{$_} } qw(TERM QUIT INT), @harmless;
    $SIG{TERM} = $SIG{QUIT} = _handler(sub { $core->drain });
    $SIG{INT}  = _handler(sub { $SIG{INT} = 'DEFAULT'; $core->stop });
    # The default would end the process after a write to a closed pipe, or past the limit of a file's size. A handler is
    # set, and not IGNORE, because commands that the application executes get the default again.
    for my $name (@harmless) {
        $SIG{$name} = sub { } if _is_default($former{$name});
    }
    STDERR->autoflush(1);    # psgi.errors is unbuffered, also if the application has pushed a layer on it
    my $done = eval { $ready->(); $core->serve($app); 1 };
    my $error = $@;
    $SIG{$_} = $former{$_} // 'DEFAULT' for keys %former;
    die $error unless $done;    ## no critic (ErrorHandling::RequireCarping): the exception of the caller's code
    return;
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

sub _is_default {
    my ($handler) = @_;
    return !defined $handler || $handler eq '' || $handler eq 'DEFAULT';
}

# The part of the env that is the same for all requests. The application gets copies of the values.
sub _env {
    my ($options) = @_;
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
        'psgi.multiprocess'     => FALSE,
        'psgi.run_once'         => FALSE,
        'psgi.nonblocking'      => FALSE,
        'psgi.streaming'        => TRUE,
        'psgix.input.buffered'  => TRUE,
    };
}

1;
