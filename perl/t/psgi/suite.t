# Plack's suite for servers: each of its requests in HTTP/1.1 and in HTTP/1.0, over TCP, with Plack's Lint in front of
# the application; in one process, with one worker, and with several.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok                ();
use HTTP::Response          ();
use IO::Socket::INET        ();
use Plack::LWPish           ();
use Plack::Middleware::Lint ();
use Plack::Test::Suite      ();
use Test::More;
use TestServer ();

my %clients = ('HTTP/1.1' => \&request_1_1, 'HTTP/1.0' => \&request_1_0);

for my $workers (Bontebok::Shared::is_possible() ? (0, 1, 5) : (0)) {
    for my $protocol (sort keys %clients) {
        subtest "$protocol, $workers workers" => sub { run_suite($protocol, $clients{$protocol}, $workers) };
    }
}
done_testing;

sub run_suite {
    my ($protocol, $client, $workers) = @_;
    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 128) or die "listen: $!";
    my $port     = $listener->sockport;
    my $app      = Plack::Middleware::Lint->wrap(Plack::Test::Suite->test_app_handler);
    my $checked  = sub {
        my ($env) = @_;
        return $env->{SERVER_PROTOCOL} eq $protocol ? $app->($env) : [505, [], [$env->{SERVER_PROTOCOL}]];
    };
    my $server = TestServer->start($checked, listen_sock => $listener, max_workers => $workers);
    close $listener;
    my $number = 0;
    my $test   = sub {
        my ($name, $check) = @_;
        subtest $name => sub { $check->(sub { $client->(addressed($_[0], $port, $number)) }) };
        $number++;
    };
    Plack::Test::Suite->runtests($test);
    cmp_ok $number, '>', 30, 'the suite is whole';
    is $server->stop, 0, 'exit status after TERM';
    is scalar(() = $server->log =~ / - - /g), 1, 'the log: one application throws';
    return;
}

# The suite's application finds its part by the number of the test.
sub addressed {
    my ($request, $port, $number) = @_;
    $request->uri->port($port);
    $request->header('X-Plack-Test' => $number);
    return $request;
}

sub request_1_1 {
    my ($request) = @_;
    return Plack::LWPish->new(no_proxy => ['127.0.0.1'])->request($request);
}

# The modules for clients know no HTTP/1.0. The end of the connection ends the response.
sub request_1_0 {
    my ($request) = @_;
    my $uri    = $request->uri;
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $uri->port) or die "connect: $!";
    $request->header(Host => $uri->host_port, 'Content-Length' => length $request->content);
    my $line = join ' ', $request->method, $uri->path_query, 'HTTP/1.0';
    print {$socket} join "\r\n", $line, $request->headers->as_string("\r\n"), $request->content;
    my $response = HTTP::Response->parse(TestServer::read_all($socket));
    $response->request($request);
    return $response;
}
