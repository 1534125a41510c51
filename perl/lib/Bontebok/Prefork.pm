package Bontebok::Prefork;

# The master: it obeys signals, and looks after its workers (Bontebok::Children). It serves no request. Signals reach it
# only while it waits.

use strict;
use warnings;

use Bontebok::Children  ();
use Bontebok::Clock     ();
use Bontebok::Signals   ();
use Bontebok::UserError qw(give_up);
use List::Util          qw(max min);

# Seconds for a worker to end after INT.
use constant QUIT_SECONDS => 2;

use constant SIGNALS => qw(TERM QUIT INT HUP USR1 CHLD);

# The application may have handlers of these signals that end the process by die or exit. They are for the workers.
use constant QUIET => qw(PIPE XFSZ ALRM);

# listeners: Bontebok::Listeners. calls: see Bontebok::Children; `work` also gets the former handlers of the signals.
sub new {
    my ($class, $options, $listeners, %calls) = @_;
    my $self = bless {
        listeners => $listeners,
        signals   => [],
        former    => {},
        clock     => Bontebok::Clock->new,
        graceful  => $options->seconds('graceful_timeout'),
        interval  => $options->seconds('spawn_interval'),
    }, $class;
    my ($former, $work, $ready) = ($self->{former}, @calls{qw(work ready)});
    $calls{work}      = sub { $work->(@_, $former) };
    $calls{ready}     = sub { _without_hold($ready) };
    $self->{children} = Bontebok::Children->new($options, $self->{clock}, %calls);
    return $self;
}

# Commands of the user's code would inherit the signals that are held.
sub _without_hold {
    my ($code) = @_;
    Bontebok::Process::hold_signals(0);
    $code->();
    Bontebok::Process::hold_signals(1);
    return;
}

# Returns when all workers have ended after a signal. Dies if no worker becomes ready at the start.
sub run {
    my ($self) = @_;
    Bontebok::Process::hold_signals(1);
    my @handlers = map { my $name = $_; $name => sub { push @{ $self->{signals} }, $name } } SIGNALS;
    my $former   = Bontebok::Signals::set(@handlers, map { $_ => sub { } } grep { exists $SIG{$_} } QUIET);
    %{ $self->{former} } = %$former;
    my $done     = eval { $self->_loop; 1 };
    my $error    = $@;
    $self->{children}->kill_all unless $done;
    Bontebok::Process::hold_signals(0);    # a second TERM that has come since finds the master's handler
    Bontebok::Signals::restore($former);
    die $error unless $done;    ## no critic (ErrorHandling::RequireCarping): the exception of the caller's code
    give_up('no worker has become ready') if $self->{failed};
    return;
}

sub _loop {
    my ($self) = @_;
    my $children = $self->{children};
    $children->fill;
    while ($children->all || !$self->{stops}) {
        $self->_wait unless @{ $self->{signals} };
        $self->_obey($_) for splice @{ $self->{signals} };
        $children->hear;
        $children->kill_late;
        $self->_let_one_leave if $self->{leaves_slowly};
        next if $self->{stops};
        $self->{failed} = $children->has_failed;
        $self->{failed} ? $self->_stop('stop', QUIT_SECONDS) : $children->fill;
    }
    return;
}

sub _wait {
    my ($self) = @_;
    my ($children, $now) = ($self->{children}, $self->{clock}->now);
    my @times = grep { $_ > $now } $self->{stops} ? $self->{next_leave} // () : $children->starts;
    my $next  = min(@times, map { max($_, $now) } $children->deadlines);    # it may have just passed
    $self->{clock}->wait([$children->descriptors], defined $next ? $next - $now : -1);
    return;
}

# ---- signals ----

sub _obey {
    my ($self, $signal) = @_;
    if    ($signal eq 'CHLD') { $self->_reap }
    elsif ($signal eq 'HUP')  { $self->{children}->outdate_all }
    elsif ($signal eq 'USR1') { $self->_leave_slowly }
    elsif ($signal eq 'INT')  { $self->_quit }
    else                      { $self->_stop('finish', $self->{graceful}) }
    return;
}

sub _reap {
    my ($self) = @_;
    $self->{children}->reap($_) for $self->{children}->all;
    $self->_reap_orphans if $$ == 1;
    return;
}

# The process 1 of a container becomes the parent of all orphans.
sub _reap_orphans {
    my ($self) = @_;
    my %own = map { $_->pid => 1 } $self->{children}->all;
    while (my $pid = Bontebok::Process::ended_child()) {
        last if $own{$pid};    # it has ended since, and CHLD comes
        waitpid $pid, 0;
    }
    return;
}

# The master closes its listeners first. So the worker that closes its own last takes all that waits in their queues.
sub _stop {
    my ($self, $order, $seconds) = @_;
    @{$self}{qw(stops leaves_slowly)} = (1, 0);
    $self->{listeners}->remove_files;
    $self->{listeners}->close;
    $self->{children}->order_all($order, $seconds);
    return;
}

# A second INT kills the workers at once.
sub _quit {
    my ($self) = @_;
    return $self->_stop('stop', QUIT_SECONDS) unless $self->{interrupted}++;
    $_->kill_now for $self->{children}->all;
    return;
}

# start_server --signal-on-hup=USR1: the workers end one after the other, while those of the next server start.
sub _leave_slowly {
    my ($self) = @_;
    @{$self}{qw(stops leaves_slowly next_leave)} = (1, 1, $self->{clock}->now) unless $self->{stops};
    return;
}

sub _let_one_leave {
    my ($self) = @_;
    my $now = $self->{clock}->now;
    return if $now < $self->{next_leave};
    my ($first, @others) = grep { !$_->is_leaving } $self->{children}->all;
    return $self->_stop('finish', $self->{graceful}) unless @others && $self->{interval};
    $self->{children}->retire($first);
    $self->{next_leave} = $now + $self->{interval};
    return;
}

1;
