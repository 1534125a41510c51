package Bontebok::WorkerLife;

# The life of a worker's process, from the fork to the exit. Signals are held at the fork. While the application is
# made, they end the process. Then they are held again until the worker has its own handlers, and before the exit: exit
# restores the handlers of outer scopes, and a late signal would end the process before END blocks run.

use strict;
use warnings;

use Bontebok          ();
use Bontebok::Log     ();
use Bontebok::Signals ();
use Bontebok::Worker  ();
use POSIX             ();

# handler: passed to child_exit. public: see Bontebok::PublicFiles. build: makes the application.
sub new {
    my ($class, $handler, $options, $public, $listeners, $build) = @_;
    my %self = (handler => $handler, options => $options, public => $public, listeners => $listeners, build => $build);
    return bless \%self, $class;
}

# Never returns. parent: the process ID of the master. channel: the socket to it. former: the handlers that signals had
# before the master set its own.
sub live {
    my ($self, $parent, $channel, $shared, $former) = @_;
    Bontebok::Process::follow($parent) or POSIX::_exit(1);
    my $done = eval { $self->_serve($parent, $channel, $shared, $former); 1 };
    Bontebok::Log::report('error', 'the worker cannot serve', $@) unless $done;
    Bontebok::Process::hold_signals(1);
    exit($done ? 0 : 1);
}

sub _serve {
    my ($self, $parent, $channel, $shared, $former) = @_;
    my ($options, $public, $listeners) = @{$self}{qw(options public listeners)};
    srand;    # otherwise all workers get the same random numbers
    my $app    = $self->_make_app($former);
    getppid == $parent or POSIX::_exit(1);    # the application has forked, or the master has died
    my $worker = Bontebok::Worker->new($options, $public, $listeners, $parent);
    $worker->join($shared, $channel, $options->requests_per_child);
    $listeners->close_all;
    close $channel;
    $worker->run($app, sub { Bontebok::Process::hold_signals(0) });
    $self->_call_child_exit($app);
    return;
}

# The block ends `next` and `last`.
sub _call_child_exit {
    my ($self, $app) = @_;
    my $code = $self->{options}->get('child_exit') // return;
    {
        eval { $code->($self->{handler}, $app); 1 } or Bontebok::Log::report('error', '--child-exit has failed', $@);
    }
    return;
}

# A terminal sends HUP to all processes: only the master decides what it means.
sub _make_app {
    my ($self, $former) = @_;
    $SIG{$_} = $former->{$_} // 'DEFAULT' for qw(CHLD USR1 ALRM);
    $SIG{$_} = $former->{$_} for grep { !Bontebok::Signals::is_default($former->{$_}) } qw(PIPE XFSZ);
    $SIG{$_} = 'DEFAULT' for qw(TERM QUIT INT);
    $SIG{HUP} = sub { };
    Bontebok::Process::hold_signals(0);
    my $app = $self->{build}->();
    Bontebok::Process::hold_signals(1);
    return $app;
}

1;
