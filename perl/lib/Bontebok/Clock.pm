package Bontebok::Clock;

# The master's clock, in seconds. It never goes back. Time for which the master was frozen while it waited (SIGSTOP, a
# paused container) does not count: its workers were frozen as well.

use strict;
use warnings;

use Bontebok    ();
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime);

# A wait that is so many seconds late was frozen.
use constant LATE => 1;

sub new { return bless { frozen => 0 }, $_[0] }

sub now { return clock_gettime(CLOCK_MONOTONIC) - $_[0]{frozen} }

# Waits for held signals and descriptors, at most so many seconds; -1: no limit.
sub wait {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($self, $descriptors, $seconds) = @_;
    my $begin = $self->now;
    my $ms    = $seconds < 0 ? -1 : $seconds > 3600 ? 3_600_000 : int($seconds * 1000) + 1;
    Bontebok::Process::wait_for($descriptors, $ms);
    my $late = $self->now - $begin - $seconds;
    $self->{frozen} += $late if $seconds >= 0 && $late > LATE;
    return;
}

1;
