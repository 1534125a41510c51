# Signals: handlers run at once, while the server is idle and while an application works or waits, and none is lost.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use IO::Select ();
use POSIX ();
use Test::More;
use TestServer ();
use Time::HiRes ();

# Handlers that are set before the server runs.
my $came = 0;
pipe(my $read, my $write) or die "pipe: $!";
$SIG{USR1} = sub { $came++; syswrite $write, '.' };
my $action = POSIX::SigAction->new(sub { $came += 100 }, POSIX::SigSet->new(POSIX::SIGUSR1()), POSIX::SA_RESTART());
POSIX::sigaction(POSIX::SIGUSR2(), $action) or die "sigaction: $!";

sub answer { my ($text) = @_; return [200, [], [$text]] }
sub body { my ($response) = @_; return $response =~ s/.*?\r\n\r\n//sr }

# What an application gets back of a handler of POSIX::sigaction.
sub seen {
    my ($signal) = @_;
    my $old = POSIX::SigAction->new;
    POSIX::sigaction($signal, undef, $old) or die "sigaction: $!";
    return join ' ', $old->flags & POSIX::SA_RESTART(), $old->mask->ismember(POSIX::SIGUSR1()),
        $old->safe ? 'safe' : 'prompt';
}

# Sleeps for up to 20 s.
sub sleeps { my $end = Time::HiRes::time() + 20; select undef, undef, undef, $end - Time::HiRes::time(); return }

sub times_out {
    my ($code) = @_;
    local $SIG{ALRM} = sub { die "alarm\n" };
    Time::HiRes::ualarm(20_000);
    my $done = eval { $code->(); 1 };
    alarm 0;
    return $done ? 'done' : $@;
}

my %apps = (
    count     => sub { answer($came) },
    seen      => sub { answer(seen(POSIX::SIGUSR2())) },
    before    => sub { answer(ref $SIG{USR1}) },
    sleep     => sub { answer(times_out(\&sleeps)) },
    loop      => sub { answer(times_out(sub { 1 while 1 })) },
    wait      => sub { my $pid = fork // die; sleeps(), POSIX::_exit(0) if !$pid; my $got = times_out(sub {
        waitpid $pid, 0 });
        kill 'KILL', $pid; answer($got) },
    uncaught  => sub { $SIG{ALRM} = sub { die "late alarm\n" }; alarm 1; sleeps() },
    local     => sub { my $n = 0; { local $SIG{USR1} = sub { $n++ }; kill 'USR1', $$ for 1 .. 3 } answer($n) },
    after     => sub { kill 'USR1', $$; answer($came) },
    blocked   => sub { my $set = POSIX::SigSet->new(POSIX::SIGUSR1()); POSIX::sigprocmask(POSIX::SIG_BLOCK(), $set);
        my $before = $came; kill 'USR1', $$; my $same = $came == $before; POSIX::sigprocmask(POSIX::SIG_UNBLOCK(),
            $set);
        answer($same && $came == $before + 1 ? 'blocked' : 'not blocked') },
    left      => sub { $SIG{ALRM} = sub { die "left behind\n" }; Time::HiRes::ualarm(20_000); answer('a') },
    prompt    => sub { POSIX::sigaction(POSIX::SIGHUP(), POSIX::SigAction->new(sub { die "prompt\n" })); answer('a') },
    safe      => sub { my $safe = POSIX::SigAction->new(sub { print STDERR "safe\n" }); $safe->safe(1);
        POSIX::sigaction(POSIX::SIGHUP(), $safe); answer(seen(POSIX::SIGHUP())) },
    ignored   => sub { $SIG{HUP} = 'IGNORE'; answer('a') },
    named     => sub { $SIG{HUP} = 'main::named'; answer('a') },
    answer    => sub { $SIG{HUP} = sub { $came = $_[0] }; answer('a') },
    both      => sub { $SIG{HUP} = sub { die "first\n" }; $SIG{CHLD} = sub { print STDERR "second\n" };
        my $set = POSIX::SigSet->new(POSIX::SIGHUP(), POSIX::SIGCHLD()); POSIX::sigprocmask(POSIX::SIG_BLOCK(), $set);
        kill $_, $$ for 'HUP', 'CHLD'; eval { POSIX::sigprocmask(POSIX::SIG_UNBLOCK(), $set); 1 while 1 }; answer($@) },
);
sub named { print STDERR "named\n" }

my $server = TestServer->start(sub { my ($env) = @_; $apps{ substr $env->{PATH_INFO}, 1 }->($env) });
sub get { my ($target) = @_; return body($server->get("/$target")) }
sub logs { my ($pattern, $name) = @_; return ok(TestServer::eventually(sub { $server->log =~ $pattern }), $name) }

is get('before'), 'CODE', 'a handler from before stays';
my ($signals, $handled) = (3000, 0);
while ($handled < $signals) {
    kill 'USR1', $server->pid or die "kill: $!";
    IO::Select->new($read)->can_read(TestServer::LIMIT()) or last;
    sysread $read, my $byte, 1;
    $handled++;
}
is $handled, $signals, 'an idle server handles each signal';
is get('count'), $signals, 'their number';
kill 'USR2', $server->pid;
ok TestServer::eventually(sub { get('count') == $signals + 100 }), 'a handler of sigaction from before';
is get('seen'), join(' ', POSIX::SA_RESTART(), 1, 'prompt'), 'its flags and its mask';
is get('sleep'), "alarm\n", 'alarm ends a sleep';
is get('loop'),  "alarm\n", 'alarm ends a loop';
is get('wait'),  "alarm\n", 'alarm ends waitpid';
like get('uncaught'), qr/\A500 /, 'an alarm that nobody catches';
is get('local'), 3, 'a local handler';
is get('after'), $signals + 101, 'the former handler afterwards';
is get('blocked'), 'blocked', 'sigprocmask';
is get('left'), 'a', 'before an alarm that is left behind';
logs(qr/ error \d+ - - outside of a request: left behind$/m, 'an alarm between two requests');
SKIP: {
    skip 'Perl before 5.32 runs such a handler inside the core, and the binding cannot prevent that', 2 if $] < 5.032;
    is get('prompt'), 'a', 'before a handler without SAFE that dies';
    kill 'HUP', $server->pid;
    logs(qr/ error \d+ - - outside of a request: prompt$/m, 'a handler without SAFE that dies');
}
is get('safe'), '0 0 safe', 'before a handler with SAFE';
kill 'HUP', $server->pid;
logs(qr/^safe$/m, 'a handler with SAFE');
is get('named'), 'a', 'before a handler by name';
kill 'HUP', $server->pid;
logs(qr/^named$/m, 'a handler by name');
is get('ignored'), 'a', 'before an ignored signal';
kill 'HUP', $server->pid;
is get('answer'), 'a', 'after an ignored signal';
kill 'HUP', $server->pid;
ok TestServer::eventually(sub { get('count') eq 'HUP' }), 'a handler that is set later';
is get('both'), "first\n", 'two signals, the first handler dies';
logs(qr/^second$/m, 'two signals: the second handler runs');
is $server->stop, 0, 'the exit status';

# A client that reads nothing stops an application if the server may keep few bytes.
my $settings = \&Bontebok::Options::settings;
no warnings 'redefine';
*Bontebok::Options::settings = sub { return { %{ $settings->(@_) }, spool_max => 65536, response_buffer => 65536 } };
use warnings 'redefine';

sub slow {
    my ($code) = @_;
    $server = TestServer->start(sub { sub { $code->($_[0]->([200, []])) } });
    my $client = $server->connect;
    syswrite $client, "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    logs(qr/^handled/m, 'the handler runs while a client is slow');
    return body(TestServer::read_all($client));
}

my $torn = 'Bontebok: an earlier part of the body was not completely sent at';
my $got  = slow(sub {
    my ($writer) = @_;
    my $died  = times_out(sub { $writer->write('x' x 4_000_000) });
    my $again = eval { $writer->write('y'); 1 } ? 'written' : $@;
    print STDERR "handled: $died$again";
});
unlike $got, qr/y|\r\n0\r\n\r\n\z/, 'a handler ends a write: nothing follows the gap';
is $server->stop, 0, 'a handler ends a write: the exit status';
like $server->log, qr/\Ahandled: alarm\n\Q$torn\E .*\n.*: the writer was not closed\n\z/,
    'a handler ends a write: the log';

$got = slow(sub {
    my ($writer) = @_;
    local $SIG{ALRM} = sub { print STDERR 'handled: ', eval { $writer->write('inner'); 1 } ? 'written' : $@ };
    Time::HiRes::ualarm(20_000);
    $writer->write('x' x 4_000_000);
    $writer->write('end');
    $writer->close;
});
my $bytes = $got =~ s/[0-9a-f]+\r\n(.*?)\r\n/$1/gsr;
ok $bytes eq 'x' x 4_000_000 . 'end', 'a handler that writes: its bytes are not mixed with others';
is $server->stop, 0, 'a handler that writes: the exit status';
like $server->log, qr/\Ahandled: \Q$torn\E .*\n\z/, 'a handler that writes: the log';

$got = slow(sub {
    my ($writer, $part) = ($_[0], 'x' x 4_000_000);
    local $SIG{ALRM} = sub { print STDERR "handled\n"; $part = 'short' };
    Time::HiRes::ualarm(20_000);
    $writer->write($part);
    $writer->close;
});
unlike $got, qr/\r\n0\r\n\r\n\z/, 'a handler changes what is written';
is $server->stop, 0, 'a handler changes what is written: the exit status';
like $server->log, qr/\Ahandled\n.*: Bontebok: the body was changed while it was sent at/,
    'a handler changes ...: the log';

done_testing;
