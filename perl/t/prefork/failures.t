# Workers that fail before they are ready, and a system that gives no process.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use PreforkServer;
use Test::More;
use Time::HiRes qw(time);

# ---- the first start ----

for my $row (['die "boom\n"', 1], ['exit 7', 7]) {
    my ($load, $status) = @$row;
    my ($exit, $log) = PreforkServer->run(load => $load, args => ['-L', 'Delayed']);
    is $exit, 1, "$load in each worker: the exit status";
    is scalar(() = $log =~ /worker [12] \(process \d+\) has ended before it was ready, with exit status $status$/mg), 2,
      "$load in each worker: the log";
    like $log, qr/^bontebok: no worker has become ready\n\z/m, "$load in each worker: the last line";
}
my ($exit, $log) = PreforkServer->run(load => 'die "boom\n"');
cmp_ok $exit, '>', 0, 'die in the master: the exit status';
like $log, qr/\AError while loading [^\n]+: boom\n\z/, 'die in the master: no worker is started';

# ---- later ----

# The test tells each worker what to do.
my $server = PreforkServer->start(
    load  => q{(wait_at('load') // '') eq 'die' and die "told to die\n"},
    args  => ['-L', 'Delayed', '--err-respawn-interval', '100ms'],
    ready => sub { 1 }
);
my @loading = map { $server->load->next } 1, 2;
$loading[0]->let_go('die');
$loading[1]->let_go;
my $serves = $loading[1]->pid;
my $begin  = time;
for my $least (0.1, 0.2) {
    is $server->body('/'), $serves, 'the other worker serves';
    my $again = $server->load->next;
    cmp_ok time - $begin, '>=', $least, "the next one is started after $least s";
    $begin = time;
    $again->let_go('die');
}
my $good = $server->load->next;
$good->let_go;
is_deeply [$server->serving(2)], [sort { $a <=> $b } $serves, $good->pid], 'then it succeeds';
is scalar(() = $server->log =~ /the worker cannot serve: Error while loading \S+: told to die/g), 3,
  'the reason in the log';
is scalar(() = $server->log =~ /before it was ready, with exit status 1$/mg), 3, 'the end in the log';

# A release that does not work: the old one serves.
kill 'HUP', $server->pid;
$server->load->next->let_go('die') for 1, 2;
ok $server->logs(qr/(?:told to die.*){5}/s), 'a bad release';
is_deeply [$server->serving(2)], [sort { $a <=> $b } $serves, $good->pid], 'a bad release: the old workers serve';
is $server->stop, 0, 'a bad release: the exit status';

# ---- the log is a pipe that nobody reads ----

$server = PreforkServer->start(
    load => q{pipe my $read, my $write or die; open STDERR, '>&', $write or die; close $read}
);
my @first = $server->serving(2);
kill 'KILL', @first;
ok $server->lose(\@first), 'nobody reads the log: killed workers end';
is scalar(my @pids = $server->serving(2)), 2, 'nobody reads the log: the master starts new ones';
is $server->stop, 0, 'nobody reads the log: the exit status';

# The log is a pipe that is full.
$server = PreforkServer->start(
    load => <<'LOAD',
        use IO::Handle;
        our ($read, $write);
        pipe $read, $write or die;
        $write->blocking(0);
        1 while syswrite $write, 'x';
        $write->blocking(1);
        open STDERR, '>&', $write or die;
LOAD
);
@first = $server->serving(2);
kill 'KILL', @first;
ok $server->lose(\@first), 'the log is full: killed workers end';
is scalar(@pids = $server->serving(2)), 2, 'the log is full: the master starts new ones';
is $server->stop, 0, 'the log is full: the exit status';

# ---- no process ----

$server = PreforkServer->start(
    load => q{BEGIN { *CORE::GLOBAL::fork = sub { return CORE::fork() unless -e 'full'; $! = 11; return } }},
    args => ['--err-respawn-interval', '100ms'],
);
@first = $server->serving(2);
my $full  = $server->directory . '/full';
open my $file, '>', $full or die "$full: $!";
kill 'KILL', $first[0];
ok $server->logs(qr/(?: - - cannot start worker [12]: Resource temporarily unavailable\n.*){2}/s),
  'fork fails: the log';
is $server->body('/'), $first[1], 'fork fails: the other worker serves';
is scalar $server->workers, 1, 'fork fails: there is one worker';
unlink $full;
is scalar(@pids = $server->serving(2)), 2, 'fork succeeds again';
is $server->stop, 0, 'the exit status';
ok $server->is_gone, 'no process is left';

done_testing;
