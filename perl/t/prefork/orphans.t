# The master is killed: its workers answer the requests that have come, and end.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use POSIX qw(SIGKILL);
use PreforkServer;
use Test::More;

sub kill_master { my ($server, $name) = @_; return is $server->stop('KILL'), SIGKILL, "$name: the master is killed" }

sub ends {
    my ($server, $name) = @_;
    ok TestServer::eventually { $server->is_gone }, "$name: all workers end";
    is $server->log, '', "$name: nothing in the log";
    ok $server->refuses, "$name: later clients are refused";
    return;
}

my $server = PreforkServer->start;
my @busy   = $server->occupy('/', '/');
my @queued = map { $server->send_get('/') } 1 .. 10;
kill_master($server, 'with requests');
$_->[1]->let_go for @busy;
is PreforkServer::body_of($_->[0]), $_->[1]->pid, 'with requests: those in work are finished' for @busy;
my @bodies = map { PreforkServer::body_of($_) } @queued;
is_deeply [grep { !/\A\d+\z/ } @bodies], [], 'with requests: those that wait are answered';
ends($server, 'with requests');

# One worker is idle, and the others load.
$server = PreforkServer->start(
    workers => 3,
    load    => q{wait_at('load')},
    args    => ['-L', 'Delayed'],
    ready   => sub { 1 }
);
my @loading = map { $server->load->next } 1 .. 3;
$loading[0]->let_go;
is $server->body('/'), $loading[0]->pid, 'without a request: one worker serves';
kill_master($server, 'without a request');
ends($server, 'without a request');

# A request hangs. Nobody else would kill the worker.
$server = PreforkServer->start(workers => 1, args => ['--graceful-timeout', '200ms']);
my ($hangs) = $server->occupy('/');
kill_master($server, 'a request that hangs');
is TestServer::read_all($hangs->[0]), '', 'a request that hangs: no response';
ends($server, 'a request that hangs');

# The server is the process 1 of a container.
use constant STATE_OF => <<'LOAD';
    use POSIX ();
    sub state_of {
        my ($path) = @_;
        open my $file, '<', $path or return '';
        return (readline $file) =~ /.*\) (\S)/s ? $1 : '';
    }
LOAD
SKIP: {
    my @unshare = qw(unshare --pid --fork --mount-proc);
    system(@unshare, 'true') == 0 or skip 'no namespace of processes', 2;
    $server = PreforkServer->start(workers => 1, under => \@unshare, load => STATE_OF, routes => <<'ROUTES');
        '/orphans' => sub { fork || POSIX::_exit(fork ? 0 : 7) for 1 .. 5; 1 while wait > 0; [200, [], []] },
        '/zombies' => sub { [200, [], [scalar grep { state_of($_) eq 'Z' } glob '/proc/[0-9]*/stat']] },
ROUTES
    $server->get('/orphans');
    ok TestServer::eventually { $server->body('/zombies') eq '0' }, 'as process 1, the master reaps orphans';
    $server->signal_group('TERM');
    is $server->stop(undef), 0, 'as process 1: the exit status';
}

done_testing;
