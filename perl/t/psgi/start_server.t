# Under start_server (of Server::Starter): a new server takes the place of the old one, and no request is lost.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok    ();
use Command     ();
use File::Spec  ();
use List::Util  qw(first sum);
use POSIX       ();
use Test::More;
use Time::HiRes ();

use sigtrap handler => sub { exit 1 }, qw(HUP INT TERM);    # ends the servers, too

my $starter = first { -x } map { "$_/start_server" } File::Spec->path or plan skip_all => 'there is no start_server';

# The application answers with its generation and the process that has made it. It tells when it is made.
my $app = <<'END';
print STDERR "made $ENV{SERVER_STARTER_GENERATION}\n";
my $text = "$ENV{SERVER_STARTER_GENERATION} $$\n";
sub { [200, [], [$text]] };
END

# Options of start_server, and of plackup.
sub start {
    my ($options, @args) = @_;
    return Command->start(app => $app, path => undef, group => 1, args => \@args,
        under => [$starter, '--path', 'sock', @$options, '--']);
}

sub body { my ($server) = @_; return $server->get('/') =~ /\r\n\r\n(.*)\n\z/ ? $1 : 'no response' }

# ---- clients ----

# A client in a process of its own sends requests, one after the other, until the file "stop" exists and the second
# generation has answered. kept: on kept connections. Returns when the client has got a response.
sub client {
    my ($server, $kept) = @_;
    pipe my $report, my $says or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if ($pid) {
        close $says;
        readline $report;
        return [$pid, $report];
    }
    alarm TestServer::LIMIT();
    my (%bodies, $socket, $body);
    until (-e $server->directory . '/stop' && $body =~ /^2 /) {
        $socket = $server->connect unless $socket && $kept;
        my $response = eval { exchange($socket, $kept ? 'keep-alive' : 'close') } // 'nothing';
        $body = $response =~ m{\AHTTP/1\.1 200 OK\r\n.*\r\n\r\n(.*)\n\z}s ? $1 : "wrong: $response$@";
        undef $socket if $body =~ /^wrong/ || $response =~ /^Connection: close/m;
        syswrite $says, "begins\n" unless %bodies;
        $bodies{$body}++;
    }
    syswrite $says, join '', map { "$bodies{$_} $_\n" } sort keys %bodies;
    POSIX::_exit(0);
}

# The body of a response ends with the only line end outside of the head.
sub exchange {
    my ($socket, $connection) = @_;
    syswrite $socket, "GET / HTTP/1.1\r\nHost: test\r\nConnection: $connection\r\n\r\n" or die "write: $!";
    my $response = '';
    until ($response =~ /\r\n\r\n.*\n\z/s) {
        sysread $socket, $response, 4096, length $response or die 'the end';
    }
    return $response;
}

# Returns a hash: a response, and how often it came.
sub report_of {
    my ($client) = @_;
    my ($pid, $report) = @$client;
    my %bodies = map { /^(\d+) (.*)/ ? ($2, $1) : () } readline $report;
    waitpid $pid, 0;
    return \%bodies;
}

# ---- HUP ----

# start_server waits a second before it ends the old server. ALRM ends this pause. Options of start_server, and of
# plackup.
my @workers = ('--max-workers', 2);
my @rows    = (
    ['TERM',          [],                                    ['--max-workers', 0]],
    ['TERM, workers', [],                                    \@workers],
    ['TERM at once',  ['--interval=0'],                      \@workers],
    ['USR1 at once',  [qw(--interval=0 --signal-on-hup=USR1)], \@workers],
);
@rows = $rows[0] unless Bontebok::Shared::is_possible();
for my $row (@rows) {
    my ($name, $options, $args) = @$row;
    my $server  = start($options, @$args);
    my @clients = map { client($server, $_) } 0, 1;
    my ($old)   = $server->log =~ /starting new worker (\d+)/;
    kill HUP => $server->pid;
    if (!@$options) {
        ok TestServer::eventually { body($server) =~ /^2 / }, "$name: both generations serve";
        kill ALRM => $server->pid;
    }
    ok $server->logs(qr/old worker $old died, status:0\n/), "$name: the old server ends";
    like body($server), qr/^2 /, "$name: the next one serves";
    open my $stop, '>', $server->directory . '/stop' or die "stop: $!";
    for my $client (@clients) {
        my $bodies = report_of($client);
        my %seen   = map { /^([12]) \d+$/ ? ($1, 1) : ($_, 1) } keys %$bodies;
        is join(', ', sort keys %seen), '1, 2', "$name: the responses";
        note "$name: ", sum(values %$bodies), ' requests';
    }
    ends($server, $name);
}

sub ends {
    my ($server, $name) = @_;
    is $server->stop, 0, "$name: the end of start_server";
    ok TestServer::eventually { $server->is_gone }, "$name: no process is left";
    ok !-e $server->path, "$name: start_server removes the file";
    return;
}

# One worker after the other. Each says when it serves or leaves.
if (@rows > 1) {
    my $exit   = 'sub { print STDERR "left $ENV{SERVER_STARTER_GENERATION}\n" }';
    my @args   = (@workers, qw(-L Delayed --spawn-interval 1 --child-exit), $exit);
    my $server = start([qw(--interval=0 --signal-on-hup=USR1)], @args);
    ok $server->logs(qr/(?:made 1\n.*){2}/s), 'one by one: the first generation';
    my $began = Time::HiRes::time();
    kill HUP => $server->pid;
    ok $server->logs(qr/left 1\n/), 'one by one: a worker leaves';
    like body($server), qr/^[12] /, 'one by one: others serve';
    ok $server->logs(qr/left 1\n.*left 1\n.*old worker \d+ died, status:0\n/s), 'one by one: the other one leaves';
    cmp_ok Time::HiRes::time() - $began, '>=', 1, 'one by one: the interval';
    like body($server), qr/^2 /, 'one by one: the next server';
    ends($server, 'one by one');
}

# ---- a server that does not start ----

my $server = start([], @workers);
my $first  = body($server);
sub replace {
    open my $file, '>', $server->directory . '/app.psgi' or die "app.psgi: $!";
    print {$file} @_;
    close $file or die "app.psgi: $!";
}
replace('die "broken\n"');
kill HUP => $server->pid;
ok $server->logs(qr/broken\n.*seems to have failed to start/s), 'a server that does not start';
is body($server), $first, 'the old one still serves';
replace($app);
ok TestServer::eventually { body($server) =~ /^[3-9] / }, 'the next one starts';
kill ALRM => $server->pid;
ok $server->logs(qr/old worker \d+ died, status:0\n/), 'the old one ends';
ends($server, 'a server that does not start');

done_testing;
