# A server in a process that another server has forked, exceptions around the server, and the end of the process.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use File::Temp ();
use POSIX ();
use Test::More;
use TestServer ();

my $directory = File::Temp->newdir;

# The response of another server; undef: there is none.
sub get_at {
    my ($path) = @_;
    my $client = bless { path => $path, owner => 0 }, 'TestServer';
    return eval { $client->raw("GET / HTTP/1.0\r\n\r\n") };
}

# ---- a server in a forked child ----

my $server = TestServer->start(
    sub {
        my $pid = fork // die "fork: $!";
        return [200, [], [$pid]] if $pid;
        Plack::Handler::Bontebok->new(max_workers => 0, listen => ["$directory/inner"])
          ->run(sub { [200, [], ['inner']] });
        POSIX::_exit(0);
    }
);
my ($inner) = $server->get('/') =~ /\r\n\r\n([0-9]+)\z/;
ok TestServer::eventually { (get_at("$directory/inner") // '') =~ /inner\z/ }, 'the inner server answers';
kill 'TERM', $inner;
ok TestServer::eventually { !-S "$directory/inner" }, 'TERM ends it gracefully';
is $server->stop, 0, 'the outer server';

# ---- two servers in one process ----

$server = TestServer->start(
    sub {
        my $second = Plack::Handler::Bontebok->new(max_workers => 0, listen => ["$directory/second"]);
        my $result = eval { $second->run(sub { }); 'served' } || $@;
        return [200, ['X-Descriptors' => scalar(() = glob '/proc/self/fd/*')], [$result]];
    }
);
my @refused = map { $server->get('/') } 1, 2;
like $refused[0], qr/\r\n\r\nBontebok: another server runs in this process/, 'a second server';
my @descriptors = map { /^X-Descriptors: ([0-9]+)/m } @refused;
is $descriptors[1], $descriptors[0], 'it leaves no descriptor open';
is $server->stop, 0, 'the first one';

# ---- signals ----

{
    local $ENV{PERL_SIGNALS} = 'unsafe';
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my $run = 'use strict; use warnings; use Plack::Handler::Bontebok; $SIG{USR1} = sub { die "usr1\n" };'
          . 'open STDERR, ">", "/dev/null";'
          . 'Plack::Handler::Bontebok->new(max_workers => 0, listen => [shift])->run(sub { [200, [], ["a"]] })';
        exec $^X, (map { "-I$_" } @INC), '-e', $run, "$directory/unsafe" or POSIX::_exit(1);
    }
    ok TestServer::eventually { get_at("$directory/unsafe") }, 'a server with unsafe signals';
    kill 'USR1', $pid;
    like get_at("$directory/unsafe"), qr/a\z/, 'a handler that dies does not end it';
    kill 'TERM', $pid;
    waitpid $pid, 0;
    is $?, 0, 'its exit status';
}

# ---- server_ready ----

my $before = sub { };
$SIG{TERM} = $before;
my $handler = Plack::Handler::Bontebok->new(
    max_workers  => 0,
    listen       => ["$directory/ready"],
    server_ready => sub { die "not ready\n" },
);
ok !eval { $handler->run(sub { }); 1 }, 'server_ready dies';
is $@, "not ready\n", 'its exception';
is $SIG{TERM}, $before, 'the former handler';

# ---- a late signal ----

for (1 .. 10) {
    my $late = TestServer->start(sub { exit 3 });
    $late->get('/');
    kill 'TERM', $late->pid;
    my $status = $late->stop(undef);
    is $status, 3 << 8, 'TERM after exit(): the exit status';
}

done_testing;
