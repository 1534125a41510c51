# What the application's code does in a worker must not reach its master: loop controls, handlers of signals, layers.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok::Child ();
use Bontebok::Options ();
use Bontebok::Prefork ();
use Command ();
use Test::More;
use TestServer ();

Bontebok::Shared::is_possible() or plan skip_all => 'this system has no workers';

my $app = 'sub { my ($env) = @_; ($app{$env->{PATH_INFO}} || sub { })->($env); [200, [], [$$]] }';

sub pid_at { my ($server) = @_; return $server->get('/') =~ /([1-9][0-9]*)\z/ ? $1 : die 'no response' }

# `next` in a callback would end a loop of the master's code, and the worker would fork.
for my $word (qw(next last)) {
    my $server = Command->start(args => ['--workers', 1, '--child-exit', "sub { no warnings; $word }"], app => $app);
    kill 'TERM', my $former = pid_at($server);
    ok TestServer::eventually { !kill 0, $former }, "$word in --child-exit ends the process";
    is $server->stop('TERM'), 0, "$word in --child-exit: the status of the master";
    is $server->log, '', "$word in --child-exit: the log";
}

# The master writes to the channel of a worker that has died.
{
    my $handlers = 'BEGIN { $SIG{$_} = sub { die "a signal" } for qw(PIPE ALRM) }';
    my $server   = Command->start(args => ['--workers', 2], app => "$handlers $app");
    kill $_, $server->pid for qw(PIPE ALRM);
    ok pid_at($server), 'handlers of the application are not for the master';
    is $server->stop('TERM'), 0, 'handlers of the application: the status of the master';
}

for my $layers (':utf8', ':crlf') {
    my $server = Command->start(args => ['--workers', 1], app => $app, env => { PERLIO => $layers });
    ok pid_at($server), "PERLIO=$layers";
    is $server->stop('TERM'), 0, "PERLIO=$layers: the status";
}

# A process that the application forks while it is made, and that returns, is no worker.
{
    my $server = Command->start(args => [qw(--workers 1 -L Delayed)], app => "fork // die; $app");
    my %seen   = map { pid_at($server) => 1 } 1 .. 20;
    is keys %seen, 1, 'a process that the application has forked does not serve';
}

# psgix.harakiri.commit is read in an env that the application has restricted.
{
    my %calls  = ('/die' => 'die "the reason\n"', '/exit' => 'exit 3');
    my $calls  = join ', ', map { "'$_' => sub { Hash::Util::lock_hash(%{ \$_[0] }); $calls{$_} }" } sort keys %calls;
    my $server = Command->start(args => ['--workers', 1], app => "use Hash::Util; my %app = ($calls); $app");
    my $former = pid_at($server);
    like $server->get('/die'), qr/ 500 /, 'a restricted env: die';
    like $server->log, qr/the reason/, 'a restricted env: the log has the exception';
    like $server->get('/exit'), qr/ 500 /, 'a restricted env: exit';
    ok TestServer::eventually { !kill 0, $former }, 'a restricted env: exit ends the worker';
}

# ---- units ----

my $options = Bontebok::Options->new({ max_reqs_per_child => 1, max_workers => 1 });
is_deeply { map { $options->requests_per_child => 1 } 1 .. 100 }, { 1 => 1 }, 'a limit of 1 is never 0';

# A deadline that has passed while the master worked is due at once.
{
    my $waits;
    no warnings 'redefine';
    local *Bontebok::Clock::wait = sub { $waits = $_[2] };
    my $master = Bontebok::Prefork->new($options, undef, work => sub { });
    my $child  = bless { number => 1, pid => $$, ready => 1 }, 'Bontebok::Child';
    $child->note_stuck($master->{clock}->now - 2);
    $master->{children}{roster}->add($child);
    $master->_wait;
    is $waits, 0, 'a deadline that has passed';
}

# A process ID that was waited for may belong to another process.
{
    my $pid   = fork // die "fork: $!";
    my $child = bless { number => 1, pid => $pid }, 'Bontebok::Child';
    if (!$pid) { sleep 60; POSIX::_exit(0) }
    $child->note_ended;
    $child->kill_now;
    $child->order('leave', 0, 0);
    is waitpid($pid, POSIX::WNOHANG()), 0, 'a worker that has ended gets no signal';
    kill 'KILL', $pid;
    waitpid $pid, 0;
}

done_testing;
