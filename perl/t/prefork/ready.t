# server_ready is called once, in the master, when the first worker is ready.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use PreforkServer;
use Test::More;

my $server = TestServer->start(
    sub { [200, [], [$$]] },
    max_workers  => 2,
    server_ready => sub { print STDERR "ready $$ $_[0]{host}\n" }
);
my $master   = $server->pid;
my ($worker) = $server->get('/') =~ /\r\n\r\n(\d+)\z/;
isnt $worker, $master, 'a worker serves';
kill 'HUP', $master;
ok TestServer::eventually { $server->get('/') !~ /\b$worker\z/ }, 'HUP: a new worker serves';
is $server->stop, 0, 'the exit status';
is $server->log, "ready $master localhost\n", 'server_ready is called once, in the master';

# plackup's server_ready says that connections are accepted.
$server = PreforkServer->start(
    load  => q{wait_at('load')},
    args  => [qw(-L Delayed -E development)],
    ready => sub { 1 }
);
my @loading = map { $server->load->next } 1, 2;
is $server->log, '', 'plackup: no worker is ready';
$loading[1]->let_go;
ok $server->logs(qr/\APlack::Handler::Bontebok: Accepting connections at [^\n]+\n\z/), 'plackup: one worker is ready';
$loading[0]->let_go;
my @pids = $server->serving(2);
is scalar(() = $server->log =~ /Accepting/g), 1, 'plackup: both are ready';
is $server->stop, 0, 'plackup: the exit status';

done_testing;
