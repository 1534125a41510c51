# The options of plackup -s Bontebok: what they change, and the messages about wrong ones. A wrong option ends plackup
# with status 2 and one line.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Command                  ();
use EnvServer                ();
use IO::Poll                 qw(POLLHUP);
use Plack::Handler::Bontebok ();
use Plack::Loader            ();
use Test::More;

# ---- mistakes ----

my $time   = 'must be a time such as 30, 0.5, 500ms, 2m or 1h, not';
my $number = 'must be a whole number';
my @wrong  = (
    [['--timout=3']                  => 'unknown option --timout; the nearest one is --timeout'],
    [['--keep-alive=0']              => 'unknown option --keep-alive; the nearest one is --keepalive'],
    [['--keep_alive=0']              => 'unknown option --keep-alive; the nearest one is --keepalive'],
    [['--worker', 3]                 => 'unknown option --worker; the nearest one is --workers'],
    [['--MAX-WORKERS=0']             => 'unknown option --MAX-WORKERS'],
    [['--Timeout=3']                 => 'unknown option --Timeout; the nearest one is --timeout'],
    [['--disable-keepalives']        => 'unknown option --keepalives; the nearest one is --keepalive'],
    [['--something-else=1']          => 'unknown option --something-else'],
    [['-D']                          => 'unknown option --daemonize'],
    [['--timeout=abc']               => "--timeout $time 'abc'"],
    [['--timeout=-1']                => "--timeout $time '-1'"],
    [["--timeout=a\n\e[1m"]           => "--timeout $time 'a\\x0a\\x1b[1m'"],
    [['--timeout=']                  => "--timeout $time ''"],
    [['--keepalive-timeout', '1x']   => "--keepalive-timeout $time '1x'"],
    [['--keepalive_timeout=1 s']     => "--keepalive-timeout $time '1 s'"],
    [['--keepalive=maybe']           => "--keepalive must be true or false, not 'maybe'"],
    [['--max-keepalive-reqs=-3']     => "--max-keepalive-reqs $number, not '-3'"],
    [['--max-keepalive-reqs=3.5']    => "--max-keepalive-reqs $number, not '3.5'"],
    [['--max_workers', 'x']          => "--max-workers $number from 0 on, not 'x'"],
    [['--backlog=0']                 => "--backlog $number from 1 on, not '0'"],
    [['--backlog=1k']                => "--backlog $number from 1 on, not '1k'"],
    [['--server-software=' . 'x' x 64] => '--server-software must have at most 63 bytes, not \'' . 'x' x 64 . q(')],
    [["--server-software=a\nb: c"]   => '--server-software must not have control characters'],
    [['--server-ready=x']            => '--server-ready must be a code reference'],
    [['--listen-sock=x']             => '--listen-sock must be an open socket'],
);
for my $row (@wrong) {
    my ($args, $message) = @$row;
    my ($status, $output) = Command->run(@$args);
    is $output, "bontebok: $message\n", "@$args";
    is $status, 2, "@$args: the exit status";
}

# A program can catch the message.
for my $row (
    ['max-workers' => -2, qr/\Abontebok: --max-workers must be a whole/],
    [nothing => 1, qr/\Abontebok: unknown/],
  ) {
    my ($name, $value, $expected) = @$row;
    ok !eval { Plack::Handler::Bontebok->new($name => $value)->run(sub { }); 1 }, "$name: an exception";
    like $@, $expected, "$name: the message";
}

# plackup without -s: Plack::Loader takes another handler if this one cannot be made.
{
    local $ENV{PLACK_SERVER} = 'Bontebok';
    isa_ok(Plack::Loader->auto(timout => 3), 'Plack::Handler::Bontebok', 'PLACK_SERVER and an unknown option');
}

# ---- the core's settings ----

my %defaults = (header_timeout => 300, body_timeout => 300, write_timeout => 300, keepalive_timeout => 75,
    max_keepalive_requests => 0, graceful_timeout => 30);
my @settings = (
    [{}                           => {}],
    [{ timeout => undef }         => {}],
    [{ timeout => 0 }             => { map { $_ => 0 } qw(header_timeout body_timeout write_timeout) }],
    [{ timeout => '1m' }          => { map { $_ => '1m' } qw(header_timeout body_timeout write_timeout) }],
    [{ 'keepalive-timeout' => 5 } => { keepalive_timeout => 5 }],
    [{ keepalive_timeout => 5 }   => { keepalive_timeout => 5 }],
    [{ max_keepalive_reqs => 9 }  => { max_keepalive_requests => 9 }],
    [{ keepalive => '' }          => { max_keepalive_requests => 1 }],
    [{ server_software => 'Me' }  => { server_name => 'Me' }],
    [{ max_workers => 0, backlog => 5, host => 'a', port => 1, socket => 'b', listen => ['c'] } => {}],
);
for my $row (@settings) {
    my ($given, $expected) = @$row;
    my $name = join(', ', map { "$_=" . ($given->{$_} // 'undef') } sort keys %$given) || 'no option';
    is_deeply(Bontebok::Options->new($given)->settings, { %defaults, %$expected }, $name);
}

# ---- keepalive ----

my $get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

# Options, and how many of five requests on one connection get a response.
my @kept = (
    [[]                                            => 5],
    [['--keepalive=1']                             => 5],
    [['--enable-keepalive']                        => 5],
    [['--disable-keepalive']                       => 1],
    [['--keepalive=0']                             => 1],
    [['--keepalive=Off']                           => 1],
    [['--max-keepalive-reqs=3']                    => 3],
    [['--max_keepalive_reqs', 3]                   => 3],
    [['--max-keepalive-reqs=0']                    => 5],
    [['--max-keepalive-reqs=3', '--keepalive=no']  => 1],
);
for my $row (@kept) {
    my ($args, $expected) = @$row;
    my $server = Command->start(args => $args);
    my $all    = $server->raw($get x 4 . EnvServer::http('GET / HTTP/1.1'));
    is scalar(() = $all =~ m{HTTP/1\.1 200}g), $expected, "responses with @$args";
    like $all, qr/\r\nConnection: close\r\n(?!.*HTTP)/s, "@$args: the last response";
}

# ---- times ----

# Options, what a client sends, and what it gets until the server closes the connection. Without the option, the server
# waits longer than a test.
my @times = (
    [['--keepalive-timeout=0']    => $get,                                        qr{\AHTTP/1\.1 200 }],
    [['--keepalive-timeout=50ms'] => $get,                                        qr{\AHTTP/1\.1 200 [^\n]*\n}],
    [['--timeout=50ms']           => "GET / HTTP/1.1\r\n",                        qr{\AHTTP/1\.1 408 }],
    [['--timeout=50ms']           => "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab", qr{\AHTTP/1\.1 408 }],
);
for my $row (@times) {
    my ($args, $bytes, $expected) = @$row;
    my $server = Command->start(args => $args);
    like $server->raw($bytes), $expected, "@$args: the server ends the connection";
    is $server->stop, 0, "@$args: the end";
}

# A client that does not read: the server ends the connection, although most of the response is not sent.
my $server = Command->start(app => 'sub { [200, [], ["x" x 5e6]] }', args => ['--timeout=100ms']);
my $client = $server->connect;
syswrite $client, $get;
my $poll = IO::Poll->new;
$poll->mask($client => POLLHUP);
$poll->poll(TestServer::LIMIT());
ok $poll->events($client) & POLLHUP, '--timeout: the end of a client that does not read';
cmp_ok length TestServer::read_all($client), '<', 4e6, '--timeout: it has not got the whole response';

# ---- server_software ----

my $env = 'sub { [200, [], [$_[0]{SERVER_SOFTWARE} // "none"]] }';
for my $row ([[], 'none', undef], [['--server-software=Me/2 (x)'], ('Me/2 (x)') x 2]) {
    my ($args, $software, $field) = @$row;
    my $response = Command->start(app => $env, args => $args)->get('/');
    like $response, qr/\r\n\r\n\Q$software\E\z/, "SERVER_SOFTWARE with @$args";
    is(($response =~ /^Server: ([^\r]*)/mi)[0], $field, "the field Server with @$args");
}

# ---- server_ready ----

my $ready;
my $code = sub { $ready = "$_[0]{host} $_[0]{port} $_[0]{proto} $_[0]{server_software}"; kill TERM => $$ };
my $path = $server->directory . '/other';
for my $row ([{}, 'Plack::Handler::Bontebok'], [{ server_software => 'Me/2' }, 'Me/2']) {
    my ($given, $software) = @$row;
    Plack::Handler::Bontebok->new(max_workers => 0, 'server-ready' => $code, listen => $path, %$given)->run(sub { });
    is $ready, "localhost $path http $software", "what server_ready gets: $software";
    ok !-e $path, 'the server ends by the signal of server_ready';
}
$server = Command->start(args => [qw(-E development)]);
like $server->log, qr{\APlack::Handler::Bontebok: Accepting connections at http://localhost:/\S+/sock/\n\z},
  'the message of plackup';

done_testing;
