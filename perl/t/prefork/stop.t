# The end of a server with workers: TERM and QUIT lose no request, INT ends at once.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use PreforkServer;
use Test::More;

sub ends {
    my ($server, $name) = @_;
    is $server->stop(undef), 0, "$name: the exit status";
    ok $server->is_gone, "$name: no process is left";
    return;
}

# This one takes longest.
my $deaf = PreforkServer->start;
my ($last) = $deaf->occupy('/');
kill 'INT', $deaf->pid;

# ---- graceful ----

# To the master, and to all processes, as a service manager sends it.
for my $row (['QUIT', 'the master'], ['TERM', 'all processes']) {
    my ($signal, $to) = @$row;
    my $name   = "$signal to $to";
    my $server = PreforkServer->start;
    my $link   = $server->directory . '/link';
    link $server->path, $link or die "link: $!";
    my @busy   = $server->occupy('/', '/');
    my @queued = map { $server->send_get('/') } 1 .. 20;
    $to eq 'the master' ? kill($signal, $server->pid) : $server->signal_group($signal);
    ok TestServer::eventually { !-e $server->path }, "$name: the socket file goes at once";
    ok TestServer::eventually { !IO::Socket::UNIX->new(Peer => $link) }, "$name: no process listens on the socket";
    $_->[1]->let_go for @busy;
    my @bodies = map { PreforkServer::body_of($_) } map({ $_->[0] } @busy), @queued;
    is_deeply [grep { !/\A\d+\z/ } @bodies], [], "$name: requests in work, and those that wait, are answered";
    ends($server, $name);
    is $server->log, '', "$name: nothing in the log";
}

# ---- a limit ----

my $server = PreforkServer->start(args => ['--graceful-timeout', '200ms']);
my ($client, $process) = @{ ($server->occupy('/'))[0] };
my $pid = $process->pid;
kill 'TERM', $server->pid;
is TestServer::read_all($client), '', '--graceful-timeout: a request that takes longer';
ends($server, '--graceful-timeout');
like $server->log, qr/^\S+ error \d+ - - worker [12] \(process $pid\) has not ended after 0\.2 s and is killed$/m,
  '--graceful-timeout: the log';

# ---- at once ----

# The first INT lets a worker finish its request. All processes get it from a terminal.
for my $to ('the master', 'all processes') {
    $server = PreforkServer->start(workers => 3);
    my @busy = $server->occupy('/', '/');
    my $send = sub { $to eq 'the master' ? kill('INT', $server->pid) : $server->signal_group('INT') };
    $send->();
    ok TestServer::eventually { $server->workers == 2 }, "INT to $to: a worker without a request ends";
    $busy[0][1]->let_go;
    is PreforkServer::body_of($busy[0][0]), $busy[0][1]->pid, "INT to $to: a request in work is finished";
    ok $server->refuses, "INT to $to: later clients are refused";
    $send->();
    ends($server, "INT twice to $to");
    is TestServer::read_all($busy[1][0]), '', "INT twice to $to: the other request is lost";
    is $server->log, '', "INT twice to $to: nothing in the log";
}

ends($deaf, 'INT');
$pid = $last->[1]->pid;
like $deaf->log, qr/^\S+ error \d+ - - worker [12] \(process $pid\) has not ended after 2 s and is killed$/m,
  'INT: a worker that does not end';

done_testing;
