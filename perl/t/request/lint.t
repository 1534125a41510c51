# Plack::Middleware::Lint accepts the env of all kinds of requests, and its checks of the response pass.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use EnvServer               ();
use Plack::Middleware::Lint ();
use Test::More;
use TestServer ();

my $app = sub {
    my ($env) = @_;
    read $env->{'psgi.input'}, my $body, $env->{CONTENT_LENGTH} // 0;
    my $text = "$env->{REQUEST_METHOD} " . length $body;
    my $whole = [200, ['Content-Type' => 'text/plain'], [$text]];
    return $whole if $env->{QUERY_STRING} ne 'streamed' && $env->{QUERY_STRING} ne 'delayed';
    return sub { $_[0]->($whole) } if $env->{QUERY_STRING} eq 'delayed';
    return sub {
        my $writer = $_[0]->([200, ['Content-Type' => 'text/plain']]);
        $writer->write($text);
        $writer->close;
    };
};
my $lint = Plack::Middleware::Lint->wrap($app);

# Request line, fields, body, and the text of the response's body.
my $big  = 'x' x (2 * 1024 * 1024);
my $form = 'Content-Type: application/x-www-form-urlencoded';
my @rows = (
    ['GET / HTTP/1.1',           [],                               '',    'GET 0'],
    ['GET / HTTP/1.0',           [],                               '',    'GET 0'],
    ['HEAD / HTTP/1.1',          [],                               '',    ''],
    ['OPTIONS * HTTP/1.1',       [],                               '',    'OPTIONS 0'],
    ['DELETE /a?b HTTP/1.1',     [],                               '',    'DELETE 0'],
    ['GET http://a/ HTTP/1.1',   [],                               '',    'GET 0'],
    ['GET http://a HTTP/1.1',    [],                               '',    'GET 0'],
    ['POST / HTTP/1.1',          ['Content-Length: 3', $form],     'abc', 'POST 3'],
    ['POST / HTTP/1.1',          ['Content-Length: 0'],            '',    'POST 0'],
    ['PUT / HTTP/1.1',           ['Transfer-Encoding: chunked'],   "3\r\nabc\r\n0\r\n\r\n", 'PUT 3'],
    ['PUT / HTTP/1.1',           ['Transfer-Encoding: chunked'],   "0\r\n\r\n", 'PUT 0'],
    ['POST / HTTP/1.1',          ['Content-Length: ' . length $big], $big, 'POST ' . length $big],
    ['GET /?delayed HTTP/1.1',   [],                               '',    'GET 0'],
    ['GET /?streamed HTTP/1.0',  [],                               '',    'GET 0'],
    ['GET /%20%00%ff HTTP/1.1',  ['Cookie: a', 'Cookie: b', 'X_A: 1', 'Proxy: 1', 'Content_Type: a'], '', 'GET 0'],
);

my $tcp    = EnvServer::listener('127.0.0.1') or die "listen: $!";
my %server = (unix => TestServer->start($lint), TCP => TestServer->start($lint, listen_sock => $tcp));
my $port   = EnvServer::port_of($tcp);
for my $kind (sort keys %server) {
    for my $row (@rows) {
        my ($line, $fields, $body, $expected) = @$row;
        my $bytes  = EnvServer::http($line, $fields, $body);
        my $client = $kind eq 'unix' ? $server{unix}->connect : EnvServer::connect_to('127.0.0.1', $port);
        print {$client} $bytes or die "write: $!";
        $client->flush;
        like TestServer::read_all($client), qr{\AHTTP/1\.1 200 OK\r\n.*\r\n\r\n\Q$expected\E\z}s, "$kind: $line";
    }
    is $server{$kind}->log, '', "$kind: the log";
}

done_testing;
