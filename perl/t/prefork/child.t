# Bontebok::Child: the states of a worker, the words that it says, and when it must be killed.
use strict;
use warnings;

my @kills;

BEGIN {
    *CORE::GLOBAL::kill = sub { push @kills, join ' ', @_; return 1 };
}

use Bontebok::Child ();
use POSIX           ();
use Test::More;

# ---- words ----

# A process that says these bytes through its channel.
sub child_that_says {
    my ($bytes) = @_;
    my $work  = sub { syswrite $_[1], $bytes; POSIX::_exit(0) };
    my $child = Bontebok::Child->start(3, 100, $work);
    waitpid $child->pid, 0;
    return $child;
}

for my $row (['r', 'ready'], ['rll', 'ready leave leave'], ['osedlr', 'overdue stuck emptied starved leave ready'],
    ['r?x', 'ready'], ['', undef]) {
    my ($bytes, $words) = @$row;
    my $child = child_that_says($bytes);
    is join(' ', $child->hear), $words, "the words for '$bytes'" if defined $words;
    is join(' ', $child->hear), 'closed', "after '$bytes'";
    is $child->channel, undef, "after '$bytes': the channel";
}
my $reads = sub { sysread $_[1], my $end, 1; POSIX::_exit(0) };
my $quiet = Bontebok::Child->start(1, 100, $reads);
is_deeply [$quiet->hear], [], 'a worker that says nothing';
my $pid = $quiet->pid;
undef $quiet;
is waitpid($pid, 0), $pid, 'the worker sees that the master has closed the channel';

# Orders.
my $exits = sub { sysread $_[1], my $order, 1; POSIX::_exit(ord $order) };
for my $row ([leave => 'L'], [finish => 'F'], [stop => 'S']) {
    my ($order, $byte) = @$row;
    my $obeys = Bontebok::Child->start(1, 100, $exits);
    $obeys->note_ready;
    $obeys->order($order, 100, 30);
    waitpid $obeys->pid, 0;
    is chr($? >> 8), $byte, "the order $order";
}
@kills = ();

# ---- states ----

# A child without a process: what start() returns.
sub child { return bless { number => 3, pid => 77, started => 100 }, 'Bontebok::Child' }

# The names of the predicates that are true.
sub state_of {
    my ($child) = @_;
    return join ' ', grep { my $method = "is_$_"; $child->$method } qw(starting serving leaving current);
}

my $child = child();
is $child->name, 'worker 3 (process 77)', 'the name';
is state_of($child), 'starting current', 'the first state';
$child->outdate;
is state_of($child), 'starting', 'outdated while it starts';
$child->note_ready;
is state_of($child), 'serving', 'it serves until the next one is ready';
$child->order('leave', 100, 30);
is state_of($child), 'leaving', 'it leaves';
is_deeply \@kills, [], 'no signal';
$child = child();
$child->order('leave', 100, 30);
is state_of($child), 'leaving', 'it leaves while it starts';
is_deeply \@kills, ['TERM 77'], 'the signal';

$child = child();
$child->note_ready;
is state_of($child), 'serving current', 'ready';
$child->note_stuck(100);
is state_of($child), 'leaving', 'a request hangs';

# ---- when it must be killed ----

# Calls for a worker that is ready; when the next look is due; then times, and what fault() returns then.
my $late   = 'has not ended after 30 s';
my $hangs  = 'has a request that hangs';
my @faults = (
    ['outdate',                                       undef, [1e9 => undef]],
    ['order finish 100 30',                             130, [129.9 => undef], [130 => $late]],
    ['order leave 100 30, order stop 110 2',             112, [111 => undef], [112 => 'has not ended after 2 s']],
    ['order leave 100 30, order finish 120 30',           130, [129 => undef], [130 => $late]],
    ['note_stuck 100',                                101, [100.9 => undef], [101 => $hangs]],
    ['order finish 100 30, note_stuck 101',             102, [101 => undef], [102 => $hangs]],
    ['order finish 100 30, note_stuck 129.5',           130, [129.9 => undef], [130 => $late]],
    ['note_closed 100 30',                            130, [129 => undef], [130 => 'has closed its channel']],
    ['note_stopped 100',                              105, [104.9 => undef], [105 => 'stays stopped']],
    ['note_stopped 100, note_continued',              undef, [1e9 => undef]],
    ['order finish 100 30, note_stopped 101',           106, [105.9 => undef], [106 => 'stays stopped']],
    ['order finish 100 30, note_stopped 101, note_continued', 130, [129 => undef], [130 => $late]],
    ['order finish 100 30, note_stopped 101, kill_now', undef, [1e9 => undef]],
);
for my $row (@faults) {
    my ($calls, $deadline, @times) = @$row;
    my $worker = child();
    for my $call ('note_ready', split /, /, $calls) {
        my ($method, @args) = split ' ', $call;
        $worker->$method(@args);
    }
    is $worker->deadline, $deadline, "$calls: when the next look is due";
    is $worker->fault($_->[0]), $_->[1], "$calls: at $_->[0]" for @times;
}

@kills = ();
$child = child();
$child->kill_now;
is_deeply \@kills, ['KILL 77'], 'kill_now';
is state_of($child), 'leaving', 'a killed worker leaves';

done_testing;
