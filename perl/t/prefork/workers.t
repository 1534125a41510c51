# Workers: how many there are, what they get from the server, and what they do not share.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use PreforkServer;
use Test::More;

my $server = PreforkServer->start(
    workers => 3,
    load    => 'rand',    # the master has a seed
    routes  => <<'ROUTES',
        '/env' => sub { [200, [], [join ' ', map { $_[0]{$_} ? 1 : 0 } 'psgi.multiprocess', 'psgix.harakiri']] },
        '/rand' => sub { [200, [], [rand]] },
        '/system' => sub { [200, [], [join ' ', system('exit 3;') >> 8, `echo a; exit 4` eq "a\n", $? >> 8]] },
        '/waitpid' => sub {
            my $pid = fork // die "fork: $!";
            exec 'exit 5;' unless $pid;
            [200, [], [waitpid($pid, 0) == $pid, ' ', $? >> 8, ' ', waitpid(-1, 1)]];
        },
        '/handler' => sub {
            my $seen = 0;
            local $SIG{CHLD} = sub { $seen++ while waitpid(-1, 1) > 0 };
            my $pid = fork // die "fork: $!";
            exec 'true' unless $pid;
            select undef, undef, undef, 0.01 until $seen;
            [200, [], [$seen]];
        },
ROUTES
);

my @first = $server->serving(3);
is_deeply [$server->workers], \@first, 'as many workers as --max-workers';
is $server->body('/env'), '1 1', 'psgi.multiprocess and psgix.harakiri';

# Each request is in a worker of its own.
my @occupied = $server->occupy(('/rand') x 3);
is_deeply [sort map { $_->[1]->pid } @occupied], [sort @first], 'each worker serves';
$_->[1]->let_go for @occupied;
my %numbers = map { PreforkServer::body_of($_->[0]) => 1 } @occupied;
is scalar keys %numbers, 3, 'each worker has random numbers of its own';

# Child processes of the application. The handlers of the master do not disturb.
is $server->body('/system'), '3 1 4', 'system and backticks';
is $server->body('/waitpid'), '1 5 -1', 'waitpid';
is $server->body('/handler'), '1', 'a handler of the application for CHLD';

# kill -9: a worker, and all at once.
for my $victims ([$first[1]], undef) {
    my @victims = $victims ? @$victims : $server->workers;
    kill 'KILL', @victims;
    ok $server->lose(\@victims) && $server->serving(3), 'killed workers: ' . @victims . ' are replaced';
    ok $server->logs(qr/ worker [123] \(process $_\) has ended by signal 9$/m), 'the log' for @victims;
}
is $server->stop, 0, 'the exit status';
ok $server->is_gone, 'no process is left';

done_testing;
