package Bontebok::Pauses;

# The earliest time for the start of the next worker of each number. Bontebok::Prefork uses it. Times are those of
# Bontebok::Clock.

use strict;
use warnings;

use List::Util qw(max min);

# The longest pause; the pause doubles at most so often; the least pause after a fork that the system has rejected. In
# seconds. Without a pause, the attempts would take all of a CPU.
use constant { LONGEST => 30, DOUBLINGS => 16, LEAST => 0.1 };

# first: seconds after the first failure.
sub new {
    my ($class, $first) = @_;
    return bless { first => $first, failures => {}, over => {}, all => 0 }, $class;
}

sub over {
    my ($self, $number) = @_;
    return max($self->{all}, $self->{over}{$number} // 0);
}

# A worker has ended before it was ready. Each failure in a row doubles the pause.
sub failed {
    my ($self, $number, $now) = @_;
    my $doublings = min($self->{failures}{$number}++ // 0, DOUBLINGS);
    $self->{over}{$number} = $now + min(max($self->{first}, LEAST) * 2**$doublings, LONGEST);
    return;
}

sub has_failed { return $_[0]{failures}{ $_[1] } }

sub ready {
    my ($self, $number) = @_;
    delete $self->{failures}{$number};
    return;
}

# A worker that has been ready has ended by itself. The next one is started at once. But if workers end as soon as they
# are ready, they are started slowly. started: when this worker was started.
sub ended {
    my ($self, $number, $started) = @_;
    $self->{over}{$number} = $started + LEAST;
    return;
}

# The system has rejected a fork. All starts wait.
sub refused {
    my ($self, $now) = @_;
    $self->{all} = $now + min(max($self->{first}, LEAST), LONGEST);
    return;
}

# Ends the pauses after failures. Failures still count.
sub cut_short { $_[0]{over} = {}; return }

1;
