# Bontebok::Clock: waits, and time for which the master was frozen.
use strict;
use warnings;

use Bontebok::Clock ();
use Test::More;

# ---- the real clock ----

my $clock = Bontebok::Clock->new;
pipe my $read, my $write or die "pipe: $!";
my $begin = $clock->now;
$clock->wait([fileno $read], 0.05);
cmp_ok $clock->now - $begin, '>=', 0.05, 'a wait in which nothing happens';
syswrite $write, 'a';
$clock->wait([fileno $read, fileno $write], -1);
pass 'a descriptor ends a wait without a limit';
{
    local $SIG{USR1} = sub { $begin = 'signal' };
    Bontebok::Process::hold_signals(1);
    kill 'USR1', $$;
    isnt $begin, 'signal', 'a signal is held';
    $clock->wait([], -1);
    is $begin, 'signal', 'it ends a wait without a limit, and its handler has run';
    Bontebok::Process::hold_signals(0);
}

# ---- a clock that the test sets ----

my ($time, @waits) = (1000);
{
    no warnings qw(redefine prototype);    ## no critic (TestingAndDebugging::ProhibitNoWarnings)
    *Bontebok::Clock::clock_gettime = sub { return $time };
    *Bontebok::Process::wait_for    = sub {
        my ($descriptors, $ms) = @_;
        push @waits, $ms;
        $time += $ms < 0 ? 500 : $ms / 1000;
        $time += shift @$descriptors;
        return;
    };
}

# Seconds that the master waits, seconds that the wait is late, and how much time counts.
for my $row ([1, 0, 1], [1, 0.9, 1.9], [1, 1.5, 1], [10, 300, 10], [0, 60, 0], [-1, 0, 500], [-1, 60, 560]) {
    my ($seconds, $late, $counts) = @$row;
    $clock = Bontebok::Clock->new;
    my $before = $clock->now;
    $clock->wait([$late], $seconds);
    my $passed = $clock->now - $before;
    ok abs($passed - $counts) < 0.01, "a wait of $seconds s that is $late s late: $counts s count" or diag $passed;
}

# Frozen times add up, and the clock goes on.
my $before = $clock->now;
$clock->wait([100], 1) for 1 .. 3;
ok abs($clock->now - $before - 3) < 0.01, 'frozen three times';
$time += 5;
ok abs($clock->now - $before - 8) < 0.01, 'then the clock goes on';

# A wait never ends too early, and its time fits in an int.
@waits = ();
$clock->wait([0], $_) for 0, 0.0001, 0.01, 0.0101, 1e9, -1;
is_deeply \@waits, [1, 1, 11, 11, 3_600_000, -1], 'milliseconds';

done_testing;
