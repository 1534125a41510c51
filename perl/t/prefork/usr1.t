# USR1: the server ends like after TERM, but with --spawn-interval one worker after the other. And the end of a server
# whose workers load.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use PreforkServer;
use Test::More;
use Time::HiRes qw(time);

my $server = PreforkServer->start(workers => 3);
my @busy   = $server->occupy('/', '/', '/');
my @queued = map { $server->send_get('/') } 1 .. 5;
kill 'USR1', $server->pid;
ok TestServer::eventually { !-e $server->path }, 'USR1: the socket file goes at once';
$_->[1]->let_go for @busy;
my @bodies = map { PreforkServer::body_of($_) } map({ $_->[0] } @busy), @queued;
is_deeply [grep { !/\A\d+\z/ } @bodies], [], 'USR1: requests in work, and those that wait, are answered';
is $server->stop(undef), 0, 'USR1: the exit status';
is $server->log, '', 'USR1: nothing in the log';

$server = PreforkServer->start(workers => 3, args => ['--spawn-interval', '100ms']);
$server->serving(3);
my $begin = time;
@bodies = ();
kill 'USR1', $server->pid;
TestServer::eventually {
    my $client = eval { $server->send_get('/') } or return 1;
    push @bodies, PreforkServer::body_of($client);
    return;
};
cmp_ok time - $begin, '>=', 0.2, 'USR1 with --spawn-interval: the workers end one after the other';
is_deeply [grep { !/\A\d+\z/ } @bodies], [], 'USR1 with --spawn-interval: no request is lost';
ok @bodies > 1, 'USR1 with --spawn-interval: the others serve';
is $server->stop(undef), 0, 'USR1 with --spawn-interval: the exit status';
ok $server->is_gone, 'USR1 with --spawn-interval: no process is left';

$server = PreforkServer->start(args => ['--spawn-interval', 1000]);
kill 'USR1', $server->pid;
is $server->stop, 0, 'TERM after USR1';
is $server->log, '', 'TERM after USR1: nothing in the log';

# ---- while workers load ----

my %loads = (load => q{wait_at('load')}, args => ['-L', 'Delayed'], ready => sub { 1 });
$server = PreforkServer->start(%loads);
my @loading = map { $server->load->next } 1, 2;
is $server->stop('INT'), 0, 'INT while the first workers load: the exit status';
ok $server->is_gone, 'INT while the first workers load: they end';
is $server->log, '', 'INT while the first workers load: nothing in the log';

# One serves, and the other one loads.
$server = PreforkServer->start(%loads);
@loading = map { $server->load->next } 1, 2;
$loading[0]->let_go;
my ($busy) = $server->occupy('/');
kill 'TERM', $server->pid;
ok $server->lose([$loading[1]->pid]), 'TERM: a worker that loads ends';
$busy->[1]->let_go;
is PreforkServer::body_of($busy->[0]), $loading[0]->pid, 'TERM: the other one finishes its request';
is $server->stop(undef), 0, 'TERM while a worker loads: the exit status';
is $server->log, '', 'TERM while a worker loads: nothing in the log';

done_testing;
