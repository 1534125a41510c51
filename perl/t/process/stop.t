# The end of the server: TERM and QUIT answer what has come, INT ends after the current request,
# a second INT ends at once.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use IO::Select ();
use POSIX ();
use Test::More;
use TestServer ();
use Time::HiRes ();

pipe(my $read, my $write) or die "pipe: $!";
pipe(my $busy, my $says)  or die "pipe: $!";

# An application that waits for a line in the request for /wait.
sub app {
    my ($env) = @_;
    if ($env->{PATH_INFO} =~ m{^/wait}) {
        syswrite $says, "waits\n";
        defined readline $read or die 'no line';
    }
    return [200, [], [$env->{PATH_INFO}, ' ', do { local $/; readline $env->{'psgi.input'} }]];
}

sub begin {
    my ($server, @lines) = @_;
    my $client = $server->connect;
    syswrite $client, join "\r\n", @lines;
    return $client;
}
sub request { my ($server, $path) = @_; return begin($server, "GET $path HTTP/1.1", 'Host: test', '', '') }
sub refuses { my ($server) = @_; return ok TestServer::eventually(sub { !connects($server) }), $_[1] }
sub connects { my ($server) = @_; return IO::Socket::UNIX->new(Peer => $server->path) }
sub waits { sysread $busy, my ($line), 100; return }
sub release { return syswrite $write, "go\n" }

# The server waits a little for a client that does not close its end.
sub answered {
    my ($client, $body, $name) = @_;
    like TestServer::read_all($client), closing($body), $name;
    close $client;
    return;
}

# Waits until the server has handled a signal with a lower number than USR1. Perl does not handle a signal that comes
# just before a system call, so several are sent.
sub handled {
    my ($server) = @_;
    do { kill 'USR1', $server->pid } until IO::Select->new($busy)->can_read(0.05);
    return waits();
}
sub closing { my ($body) = @_; return qr{\AHTTP/1\.1 200 OK\r\n(?:[^\r]+\r\n)*Connection: close\r\n\r\n\Q$body\E\z} }

# A signal that comes while the server begins to wait.
for my $signal (qw(TERM INT)) {
    is_deeply [map { TestServer->start(\&app)->stop($signal) } 1 .. 30], [(0) x 30], "$signal at once, many times";
}

for my $signal (qw(TERM QUIT INT)) {
    my $server = TestServer->start(\&app);
    is $server->stop($signal), 0, "$signal without a request";
    ok !connects($server), "$signal: nobody listens";

    # Idle connections, with and without a request before.
    $server = TestServer->start(\&app);
    my @idle = map { $server->connect } 1 .. 3;
    my $kept = request($server, '/kept');
    my $got  = '';
    sysread $kept, $got, 4096, length $got while $got !~ m{\r\n\r\n/kept $};
    my $start = Time::HiRes::time();
    is $server->stop($signal), 0, "$signal with idle connections";
    cmp_ok Time::HiRes::time() - $start, '<', 10, "$signal with idle connections: at once";
    is TestServer::read_all($_), '', "$signal with idle connections: they are closed" for @idle, $kept;
}

for my $signal (qw(TERM QUIT)) {
    my $server = TestServer->start(\&app);
    my $client = request($server, '/wait');
    waits();
    my @others = map { request($server, "/other$_") } 1 .. 3;
    kill $signal, $server->pid;
    refuses($server, "$signal in a request: the listener closes before its end");
    release();
    answered($client, '/wait ', "$signal in a request: its response");
    answered($others[ $_ - 1 ], "/other$_ ", "$signal in a request: response $_ of those that wait") for 1 .. 3;
    is $server->stop(undef), 0, "$signal in a request: the exit status";
    is $server->log, '', "$signal in a request: the log";

    # A body comes slowly.
    $server = TestServer->start(\&app);
    $client = begin($server, 'POST /body HTTP/1.1', 'Host: test', 'Content-Length: 10', '', 'first');
    answered(begin($server, 'GET / HTTP/1.1', 'Host: test', 'Connection: close', '', ''), '/ ', 'another request');
    kill $signal, $server->pid;
    refuses($server, "$signal while a body comes: the listener closes");
    syswrite $client, ' last';
    answered($client, '/body first last', "$signal while a body comes: the response");
    is $server->stop(undef), 0, "$signal while a body comes: the exit status";

    # Two signals.
    $server = TestServer->start(\&app);
    $client = request($server, '/wait');
    waits();
    kill $signal, $server->pid for 1 .. 3;
    release();
    answered($client, '/wait ', "$signal several times: the response");
    is $server->stop(undef), 0, "$signal several times: the exit status";
}

# INT in a request.
my $server = TestServer->start(\&app);
my $client = request($server, '/wait');
waits();
kill 'INT', $server->pid;
release();
like TestServer::read_all($client), qr{\AHTTP/1\.1 200 OK\r\n.*\r\n\r\n/wait \z}s, 'INT in a request: the response';
is $server->stop(undef), 0, 'INT in a request: the exit status';

# A second INT, also after TERM and INT.
for my $signals (['INT', 'INT'], ['TERM', 'INT', 'INT']) {
    $server = TestServer->start(sub { $SIG{USR1} = sub { syswrite $says, "handled\n" }; app(@_) });
    $client = request($server, '/wait');
    waits();
    my ($last, @first) = reverse @$signals;
    for my $signal (reverse @first) {
        kill $signal, $server->pid;
        handled($server);
    }
    kill $last, $server->pid;
    is $server->stop(undef), POSIX::SIGINT(), "@$signals: ends at once";
    is TestServer::read_all($client), '', "@$signals: no response";
}

# A program that runs the handler gets its own signal handlers back.
my $directory = File::Temp->newdir;
my $handler   = sub { 1 };
local $SIG{TERM} = 'IGNORE';
local $SIG{INT}  = $handler;
local $SIG{QUIT} = 'DEFAULT';
my $pid = $$;
my $ready = sub {
    defined(my $child = fork) or die "fork: $!";
    return if $child;
    my $socket = IO::Socket::UNIX->new(Peer => "$directory/sock");
    syswrite $socket, "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    my $done = TestServer::read_all($socket) =~ /200 OK/;
    kill 'TERM', $pid;
    POSIX::_exit($done ? 0 : 1);
};
Plack::Handler::Bontebok->new(max_workers => 0, listen => ["$directory/sock"], server_ready => $ready)->run(\&app);
wait;
is $?, 0, 'run in this process: the response';
is_deeply [@SIG{qw(TERM INT QUIT)}], ['IGNORE', $handler, 'DEFAULT'], 'run in this process: the signal handlers';
ok !-e "$directory/sock", 'run in this process: the socket file';
kill 'TERM', $$;
pass 'TERM is ignored again';

done_testing;
