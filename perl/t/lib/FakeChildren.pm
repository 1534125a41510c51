package FakeChildren;

# Bontebok::Children whose workers have no processes: the test says what happens to them, and what time it is. The
# process ID is 10 for the first worker of number 1, 21 for the second one of number 2. Load this module before
# Bontebok::Child, because it replaces `kill`.

use strict;
use warnings;

my @kills;

BEGIN {
    *CORE::GLOBAL::kill = sub { push @kills, join ' ', @_; return 1 };
}

use Bontebok::Children ();
use Bontebok::Options  ();
use Socket             qw(AF_UNIX PF_UNSPEC SOCK_STREAM);

# says: the other ends of the channels. ended: wait statuses. refuses: the errno of the next forks.
my ($now, $refuses, $ready, @starts, %says, %ended, @log);

{
    no warnings 'redefine';    ## no critic (TestingAndDebugging::ProhibitNoWarnings)
    *Bontebok::Child::start   = \&_start;
    *Bontebok::Process::state = sub { return exists $ended{ $_[0] } ? ('ended', delete $ended{ $_[0] }) : () };
    *Bontebok::Log::report    = sub { push @log, $_[1] };
}

sub _start {
    my ($class, $number, $time) = @_;
    if ($refuses) { $! = $refuses; return }
    my $pid = $number * 10 + grep { int $_ / 10 == $number } @starts;
    push @starts, $pid;
    socketpair my $channel, $says{$pid}, AF_UNIX, SOCK_STREAM, PF_UNSPEC or die "socketpair: $!";
    $_->blocking(0) for $channel, $says{$pid};
    return bless { number => $number, pid => $pid, channel => $channel, started => $time }, $class;
}

# options: as for plackup. Two workers.
sub new {
    my ($class, %options) = @_;
    ($now, $refuses, $ready, @starts, %ended, @log, @kills) = (1000, 0, 0);
    %says = ();
    my $options = Bontebok::Options->new({ max_workers => 2, %options });
    my @calls   = (work => undef, ready => sub { $ready++ });
    return bless { children => Bontebok::Children->new($options, $class, @calls) }, $class;
}

# Both workers serve, and have served for a second.
sub serving {
    my ($class, @options) = @_;
    my $self = $class->new(@options);
    $self->fill;
    $self->say(10 => 'r', 20 => 'r');
    $self->pass(1);
    return $self;
}

# The Bontebok::Children.
sub children { return $_[0]{children} }

# The process IDs of all workers.
sub pids { return join ' ', map { $_->pid } $_[0]{children}->all }

# Calls fill(). Returns the process IDs of the workers that it has started.
sub fill {
    my ($self) = @_;
    my $before = @starts;
    $self->{children}->fill;
    return "@starts[$before .. $#starts]";
}

# ---- what happens ----

# This is also the clock.
sub now  { return $now }
sub pass { my ($self, $seconds) = @_; $now += $seconds; return }

# From now on, the system gives no process; 0: it does again.
sub refuse { (undef, $refuses) = @_; return }

# Workers say words: their bytes. Undef: a worker closes its end.
sub say {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($self, %words) = @_;
    for my $pid (sort keys %words) {
        defined $words{$pid} ? syswrite($says{$pid}, $words{$pid}) : close delete $says{$pid};
    }
    $self->{children}->hear;
    return;
}

# Workers end with these wait statuses.
sub end {
    my ($self, %statuses) = @_;
    %ended = %statuses;
    $self->{children}->reap($_) for $self->{children}->all;
    return;
}

# ---- what the test sees ----

# Orders that workers have got since the last call: process IDs with the bytes.
sub orders {
    my @orders;
    for my $pid (sort keys %says) {
        my $count = sysread $says{$pid}, my $bytes, 9;
        push @orders, "$pid$bytes" if $count;
    }
    return "@orders";
}

# Signals and entries of the log since the last call. How often ready was called.
sub kills { my @all = splice @kills; return "@all" }
sub log   { my @all = splice @log;   return "@all" }    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
sub ready { return $ready }

1;
