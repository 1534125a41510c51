# Processes that the application forks: they never send a response, close no socket of the server, and remove no socket
# file, however they end. Also commands, which work as without the server.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Body ();
use POSIX ();
use Test::More;
use TestServer ();

my $test = $$;
END { print STDERR "END\n" if $$ != $test }

package Forker {
    sub new { my ($class, $code) = @_; return bless { code => $code }, $class }
    sub DESTROY { $_[0]{code}->() if !fork; wait }
}

package main;

# Forks a child that runs the code, and waits for it. Returns its wait status. The child returns after the code.
sub child {
    my ($code) = @_;
    my $pid = fork // die "fork: $!";
    if ($pid == 0) { $code->(); return 'child' }
    waitpid $pid, 0;
    return $?;
}

sub responds { my ($code) = @_; return sub { my ($env) = @_; sub { $code->($_[0], $env) } } }
sub answer { my ($text) = @_; return [200, [], [$text]] }

# In each of these places the child runs `$end`.
my %places = (
    'the application' => sub { my ($end) = @_; sub { answer(child($end)) } },
    'getline'     => sub { my ($end) = @_; sub { [200, [], Body->new('x', sub { child($end) })] } },
    'the last getline' => sub { my ($end) = @_; sub { [200, [], Body->new('x', '0', sub { child($end); undef })] } },
    'close'       => sub { my ($end) = @_; sub { my $body = Body->new('x', '0'); $body->{on_close} = sub {
        child($end) }; [200, [], $body] } },
    'the code before the responder' => sub { my ($end) = @_; responds(sub { my $got = child($end);
        $_[0]->(answer($got)) }) },
    'the code after the responder' => sub { my ($end) = @_; responds(sub { $_[0]->(answer(0)); child($end) }) },
    'a stream'    => sub { my ($end) = @_; responds(sub { my $w = $_[0]->([200, []]); my $got = child($end);
        $w->write($got); $w->close }) },
    'a stream that the child writes to' => sub { my ($end) = @_; responds(sub { my $w = $_[0]->([200, []]);
        child(sub { eval { $w->write('child') }; eval { $w->close }; $end->() }); $w->write(0); $w->close }) },
    'a responder that the child calls' => sub { my ($end) = @_; responds(sub { my ($respond) = @_;
        child(sub { eval { $respond->(answer('child')) }; $end->() }); $respond->(answer(0)) }) },
    'a DESTROY of the env' => sub { my ($end) = @_; sub { $_[0]{'my.object'} = Forker->new($end); answer(0) } },
    'a grandchild' => sub { my ($end) = @_; sub { my $got = child(sub { child($end); POSIX::_exit(0) });
        answer($got) } },
);
my %ends = (
    exit    => sub { exit 0 },
    _exit   => sub { POSIX::_exit(0) },
    die     => sub { die "in the child\n" },
    return  => sub { return },
    exec    => sub { exec 'true' or die "exec: $!" },
    kill    => sub { kill 'KILL', $$ },
);

for my $place (sort keys %places) {
    for my $end (sort keys %ends) {
        my $server = TestServer->start($places{$place}->($ends{$end}));
        my $socket = $server->connect;
        for my $count (1, 2) {    # the connection is kept
            syswrite $socket, "GET / HTTP/1.1\r\nHost: test\r\n" . ($count == 2 ? "Connection: close\r\n\r\n" : "\r\n");
        }
        my $all    = TestServer::read_all($socket);
        my $bodies = () = $all =~ /\r\n\r\n(?:1\r\n0|[0-9]{1,3}|[0-9]\r\n[0-9]{1,3}\r\n)/g;
        is $bodies, 2, "$end in $place: the responses of the server, and no other ones" or diag $all;
        unlike $all, qr/child| 500 /, "$end in $place: no response of the child";
        ok -S $server->path, "$end in $place: the socket file";
        is $server->stop, 0, "$end in $place: the exit status";
        my $died = $end eq 'die' && $place !~ /DESTROY/;
        is scalar(() = $server->log =~ /GET .*in the child/g), $died ? 2 : 0,
            "$end in $place: the log" or diag $server->log;
        my $ended = $end eq 'exit' ? 2 : 0;
        is scalar(() = $server->log =~ /^END$/mg), $ended, "$end in $place: END blocks" or diag $server->log;
        ok !-e $server->path, "$end in $place: the server removes the file";
    }
}

# A child in a signal handler between two requests. It does not go on behind the server.
my $run = \&Bontebok::Worker::run;
no warnings 'redefine';
*Bontebok::Worker::run = sub { $run->(@_); print STDERR "behind\n" };
use warnings 'redefine';
for my $end (sort keys %ends) {
    my $server = TestServer->start(sub { $SIG{USR1} = sub { child($ends{$end}); print STDERR "handled $$\n" };
        answer('a') });
    like $server->get('/'), qr/\r\n\r\na\z/, "$end in a handler";
    kill 'USR1', $server->pid;
    ok TestServer::eventually(sub { $server->log =~ /^handled ${\$server->pid}$/m }), "$end in a handler: it has run";
    like $server->get('/'), qr/\r\n\r\na\z/, "$end in a handler: afterwards";
    is $server->stop, 0, "$end in a handler: the exit status";
    is scalar(() = $server->log =~ /^behind$/mg), 1, "$end in a handler: only the server goes on";
}

# A child that runs long after the request, and ends after the server. Its copies of the sockets keep no client waiting.
pipe(my $read, my $write) or die "pipe: $!";
my $server = TestServer->start(sub {
    defined(my $pid = fork) or die "fork: $!";
    if ($pid == 0) { close $write; readline $read; print STDERR "late\n"; exit 0 }
    return answer('a');
});
like $server->get('/'), qr/\r\n\r\na\z/, 'a late child: the response ends';
like $server->get('/'), qr/\r\n\r\na\z/, 'a late child: the next one';
is $server->stop, 0, 'a late child: the server ends';
ok !IO::Socket::UNIX->new(Peer => $server->path), 'a late child: the server does not listen';
close $write;
ok TestServer::eventually(sub { 2 == (() = $server->log =~ /^late$/mg) }), 'a late child: both end';

# Commands and pipes.
my @commands = (
    ['system',    sub { system('exit 3;') >> 8 },                     3],
    ['backticks', sub { my $text = `echo a; exit 4`; "$text" . ($? >> 8) }, "a\n4"],
    ['a pipe from', sub { open my $pipe, '-|', 'echo', 'b' or die; my $line = readline $pipe; close $pipe; "$line$?" },
        "b\n0"],
    ['a pipe from a fork', sub { my $pid = open my $pipe, '-|'; $pid // die; if (!$pid) { print 'c';
        exit 0 } readline $pipe }, 'c'],
    ['a pipe to', sub { open my $pipe, '|-', 'cat >&2; exit 5' or die; print {$pipe} "in d\n"; close $pipe; $? >> 8 },
        5],
    ['IPC::Open3', sub { require IPC::Open3; my $pid = IPC::Open3::open3(my $in, my $out, undef, 'echo e');
        waitpid $pid, 0;
        readline $out }, "e\n"],
    ['SIGPIPE in a command', sub { my $status = system 'kill -PIPE $$'; $status & 127 }, POSIX::SIGPIPE()],
    ['CHLD is ignored', sub { local $SIG{CHLD} = 'IGNORE'; system('exit 3;'); 'f' }, 'f'],
    ['a handler for CHLD', sub { my $n = 0; local $SIG{CHLD} = sub { $n++ }; my $p = fork // die;
        POSIX::_exit(0) if !$p;
        waitpid $p, 0; $n }, 1],
);
$server = TestServer->start(sub { answer($commands[ substr $_[0]{PATH_INFO}, 1 ][1]->()) });
like $server->get("/$_"), qr/\r\n\r\n\Q$commands[$_][2]\E\z/, $commands[$_][0] for 0 .. $#commands;
is $server->stop, 0, 'the exit status';
unlike $server->log, qr/error|warn/, 'the log';

done_testing;
