# What options do that are settings of the core: limits, the queue of requests, the server's own paths; and options of
# workers.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok   ();
use Command    ();
use IO::Select ();
use POSIX      ();
use Test::More;

use sigtrap handler => sub { exit 1 }, qw(HUP INT TERM);    # ends the servers, too

# A request for /wait waits until the test opens and closes the FIFO "gate".
my $app = <<'END';
my %answers = (
    '/'       => sub { [200, [], [$$]] },
    '/fields' => sub { [200, [], [join ' ', grep /^HTTP_X/, sort keys %{ $_[0] }]] },
    '/stream' => sub { sub { $_[0]->([200, ['Content-Type' => 'text/plain']])->close } },
    '/wait'   => sub { open my $gate, '<', 'gate' or die $!; readline $gate; [200, [], ['waited']] },
);
sub { $answers{ $_[0]{PATH_INFO} }->($_[0]) };
END

sub start {
    my ($workers, @args) = @_;
    my $server = Command->start(app => $app, group => 1, args => ['--max-workers', $workers, @args]);
    POSIX::mkfifo($server->directory . '/gate', 0600) or die "mkfifo: $!";
    return $server;
}

sub request {
    my ($server, $target) = @_;
    my $client = $server->connect;
    syswrite $client, "GET $target HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    return $client;
}

# Returns a connection whose request waits in the application, and the gate: its end lets the request go on.
sub busy {
    my ($server) = @_;
    my $client = request($server, '/wait');
    alarm TestServer::LIMIT();
    open my $gate, '>', $server->directory . '/gate' or die "gate: $!";    # waits until the application opens it
    alarm 0;
    return ($client, $gate);
}

sub status { return $_[0] =~ m{\AHTTP/1\.1 ([0-9]+) } ? $1 : "no response: $_[0]" }

my @workers = Bontebok::Shared::is_possible() ? (0, 1) : (0);

# ---- one request ----

my $server = start(0, '--max-body=10', '--enable-allow-underscore-headers', '--disable-chunked-transfer');
is status($server->post('/', 'x' x 10)), 200, '--max-body: a body of this size';
is status($server->post('/', 'x' x 11)), 413, '--max-body: a larger one';
like $server->get('/fields', 'x_a: 1', 'x-b: 2'), qr/\r\n\r\nHTTP_X_A HTTP_X_B\z/, '--enable-allow-underscore-headers';
unlike $server->get('/stream'), qr/^Transfer-Encoding/m, '--disable-chunked-transfer';

$server = start(0);
is status($server->post('/', 'x' x 11)), 200, 'the default of max-body';
like $server->get('/fields', 'x_a: 1', 'x-b: 2'), qr/\r\n\r\nHTTP_X_B\z/, 'the default of allow-underscore-headers';
like $server->get('/stream'), qr/^Transfer-Encoding: chunked\r/m, 'the default of chunked-transfer';

# ---- requests that wait for a worker ----

for my $workers (@workers) {
    my $name = "$workers workers";

    # The server answers for its own paths while the application is busy.
    $server = start($workers, qw(--ready-path=/ready --live-path /live --queue-timeout=50ms));
    my ($client, $gate) = busy($server);
    is status($server->get($_)), 200, "$name: $_" for qw(/ready /live);
    like $server->get('/'), qr{\AHTTP/1\.1 503 .*^Retry-After: }ms, "$name: --queue-timeout";
    close $gate;
    like TestServer::read_all($client), qr/\r\n\r\nwaited\z/, "$name: --queue-timeout: the other request";
    like $server->get('/'), qr/\r\n\r\n[0-9]+\z/, "$name: --queue-timeout: the next request";
    is $server->stop, 0, "$name: --queue-timeout: the end";

    $server = start($workers, '--max-queue=1');
    ($client, $gate) = busy($server);
    my @others = map { request($server, '/') } 1, 2;
    my $select = IO::Select->new(@others);
    my ($first) = $select->can_read(TestServer::LIMIT());
    is status(TestServer::read_all($first)), 503, "$name: --max-queue";
    close $gate;
    my ($second) = grep { $_ != $first } @others;
    is status(TestServer::read_all($_)), 200, "$name: --max-queue: the others" for $client, $second;
    is $server->stop, 0, "$name: --max-queue: the end";

    $server = start($workers, '--request-timeout=50ms');
    ($client, $gate) = busy($server);
    is status(TestServer::read_all($client)), 504, "$name: --request-timeout";
    close $gate;
    is status($server->get('/')), 200, "$name: --request-timeout: the next request";
    is $server->stop, 0, "$name: --request-timeout: the end";

    $server = start($workers, '--disable-keepalive');
    my $twice = "GET / HTTP/1.1\r\nHost: test\r\n\r\n" x 2;
    is scalar(() = $server->raw($twice) =~ m{HTTP/1\.1 200}g), 1, "$name: --disable-keepalive";
}

# ---- options of workers ----

my @of_workers = (qw(--child-exit), 'sub { print STDERR "left $$\n" }', qw(--min-reqs-per-child 3),
    qw(--max-reqs-per-child 1 --spawn-interval 1 --err-respawn-interval 1 --graceful-timeout 1));
$server = start(0, @of_workers);
like $server->get('/'), qr/\r\n\r\n@{[$server->pid]}\z/, 'options of workers, without workers' for 1, 2;
is $server->stop, 0, 'the end';
is $server->log, '', 'no code is called at the end';

if (@workers > 1) {
    $server = start(1, '--max-reqs-per-child=0', '--child-exit=sub { print STDERR "left $$\n" }');
    my ($pid) = $server->get('/') =~ /\r\n\r\n([0-9]+)\z/;
    is $server->stop, 0, '--child-exit: the end';
    is $server->log, "left $pid\n", '--child-exit';

    # A code reference. The handler and the application are its arguments.
    my $exits = sub { print STDERR join(' ', ref $_[0], $_[1]->({})->[2][0]), "\n" };
    my $own   = TestServer->start(sub { [200, [], ['app']] }, max_workers => 1, child_exit => $exits);
    is $own->stop, 0, 'child_exit as code: the end';
    is $own->log, "Plack::Handler::Bontebok app\n", 'child_exit as code';

    # Many workers: each tells when it is made.
    my $many = $ENV{BONTEBOK_TEST_LONG} ? 100 : 20;
    my @args = (qw(-L Delayed --max-workers), $many, '--child-exit', 'sub { POSIX::_exit(0) }');
    $server = Command->start(app => 'print STDERR "made\n"; sub { [200, [], []] }', group => 1, args => \@args);
    ok TestServer::eventually { $many == (() = $server->log =~ /^made$/mg) }, 'many workers';
    is status($server->get('/')), 200, 'many workers: the response';
    is $server->stop, 0, 'many workers: the end';
    is $server->log, "made\n" x $many, 'many workers: the log';
}

done_testing;
