# psgi.input outlives its request. A body that does not arrive completely never reaches the application.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use EnvServer ();
use POSIX     ();
use Test::More;
use TestServer ();

use constant BIG => 2 * 1024 * 1024;

sub body_of { return $_[0] =~ /\r\n\r\n(.*)\z/s ? $1 : "no response: $_[0]" }

# The first three bytes that are left, and the number of bytes.
sub rest_of {
    my ($handle) = @_;
    local $/;
    my $rest = <$handle>;
    return substr($rest, 0, 3) . '+' . length $rest;
}

# ---- an application keeps the handle ----

my @kept;
my $server = TestServer->start(
    sub {
        my ($env) = @_;
        my $input = $env->{'psgi.input'};
        if ($env->{PATH_INFO} eq '/keep') {
            read $input, my $start, 2;
            push @kept, $input;
        } elsif ($env->{PATH_INFO} eq '/child') {
            my $child = open(my $pipe, '-|') // die "fork: $!";
            if (!$child) {
                syswrite STDOUT, rest_of($input);
                POSIX::_exit(0);
            }
            my $result = readline $pipe;
            return [200, [], [$result, ' ', rest_of($input)]];
        } elsif ($env->{PATH_INFO} eq '/command') {
            seek $input, 0, 0;
            open my $saved, '<&', \*STDIN or die "dup: $!";
            open STDIN, '<&', $input or die "dup: $!";
            my $result = `wc -c`;
            open STDIN, '<&', $saved or die "dup: $!";
            return [200, [], [$result + 0]];
        } else {
            my $result = join ' ', map { rest_of($_) } @kept;
            @kept = ();
            return [200, [], [$result]];
        }
        return [200, [], []];
    }
);
$server->post('/keep', "1.abc$_" . 'x' x (BIG + $_)) for 1, 2;
$server->post('/keep', "2.def$_" . 'x' x $_) for 1, 2;
$server->get('/keep');
$server->raw("GET /keep HTTP/1.1\r\nHost: a\r\n\r\nGET /keep HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
is body_of($server->post('/', 'y' x BIG)),
  join(' ', 'abc+' . (BIG + 5), 'abc+' . (BIG + 6), 'def+5', 'def+6', ('+0') x 3), 'kept handles';
is body_of($server->post('/', 'y' x BIG)), '', 'no handle is left';

# A child has its own copy of a handle in memory. A file's offset belongs to both.
is body_of($server->post('/child', 'abcde')), 'abc+5 abc+5', 'a child reads a body in memory';
is body_of($server->post('/child', 'abc' . 'x' x BIG)), 'abc+' . (BIG + 3) . ' +0', 'a child reads a body in a file';
is body_of($server->post('/command', 'x' x BIG)), BIG, 'a command reads a body in a file';

# Descriptors are closed with the handle. Linux shows them.
SKIP: {
    my $count = sub { opendir my $all, "/proc/@{[$server->pid]}/fd" or return; return scalar(() = readdir $all) };
    my $before = $count->() or skip 'no /proc here', 1;
    $server->post('/', 'x' x BIG) for 1 .. 5;
    ok TestServer::eventually { $count->() <= $before }, 'no descriptor stays open';
}
is $server->log, '', 'the log';

# ---- uploads that break off ----

my $calls = 0;
$server = TestServer->start(
    sub {
        my ($env) = @_;
        return [200, [], [$calls]] if $env->{REQUEST_METHOD} eq 'GET';
        $calls++;
        return [200, [], [rest_of($env->{'psgi.input'})]];
    }
);
my ($post, $chunked) = map { EnvServer::http('POST / HTTP/1.1', [$_]) } 'Content-Length: ' . BIG,
  'Transfer-Encoding: chunked';
my $mebibyte = 'x' x (1024 * 1024);
my $chunk    = sprintf "%x\r\n%s\r\n", length $mebibyte, $mebibyte;
my @broken   = (
    ['no body'                => $post,                           qr/\A\z/],
    ['a part in memory'       => $post . 'abc',                   qr/\A\z/],
    ['a part in a file'       => $post . 'x' x (BIG - 1),         qr/\A\z/],
    ['no chunk'               => $chunked,                        qr/\A\z/],
    ['a part of a size'       => "${chunked}5",                   qr/\A\z/],
    ['a part of a chunk'      => "${chunked}5\r\nabc",            qr/\A\z/],
    ['no last chunk'          => "${chunked}5\r\nabcde\r\n",      qr/\A\z/],
    ['no end after the last chunk' => "${chunked}5\r\nabcde\r\n0\r\n", qr/\A\z/],
    ['no last chunk in a file' => $chunked . $chunk x 2,          qr/\A\z/],
    ['a wrong size'           => "${chunked}xyz\r\nabc\r\n",      qr{\AHTTP/1\.1 400 }],
    ['a wrong size in a file' => $chunked . $chunk x 2 . "xyz\r\n", qr{\AHTTP/1\.1 400 }],
    ['a chunk that is too long' => "${chunked}2\r\nabcde\r\n0\r\n\r\n", qr{\AHTTP/1\.1 400 }],
    ['two lengths' => EnvServer::http('POST / HTTP/1.1', ['Content-Length: 3', 'Content-Length: 4'], 'abcd'),
        qr{\AHTTP/1\.1 400 }],
    ['length and chunks' => EnvServer::http('POST / HTTP/1.1', ['Content-Length: 3', 'Transfer-Encoding: chunked'],
            "0\r\n\r\n"), qr{\AHTTP/1\.1 400 }],
);
for my $row (@broken) {
    my ($name, $bytes, $expected) = @$row;
    my $client = $server->connect;
    TestServer::_send($client, $bytes);
    shutdown $client, 1;
    like TestServer::read_all($client), $expected, "$name: the response";
    is body_of($server->get('/')), 0, "$name: the application is not called";
}

# A client that waits for "100 Continue" before it sends the body.
my $client = $server->connect;
TestServer::_send($client, EnvServer::http('POST / HTTP/1.1', ['Expect: 100-continue', 'Content-Length: 3']));
sysread $client, my $answer, 1000;
is $answer, "HTTP/1.1 100 Continue\r\n\r\n", 'the answer to Expect';
is body_of($server->get('/')), 0, 'the application is not called before the body has come';
TestServer::_send($client, 'abc');
is body_of(TestServer::read_all($client)), 'abc+3', 'the response after the body';
is body_of($server->post('/', 'x' x BIG)), 'xxx+' . BIG, 'a complete upload';
is body_of($server->get('/')), 2, 'the application was called for complete uploads';

done_testing;
