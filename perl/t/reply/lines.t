# Bodies that are objects with getline and close: the bytes, what $/ is, and that close is called exactly once.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Body ();
use Test::More;
use Table qw(check chunked failed full);

package Text { use overload '""' => sub { 'text' }, fallback => 1 }

package Deaf { use overload 'bool' => sub { die "no truth\n" }, '""' => sub { die "no text\n" } }

package Silent { use overload 'bool' => sub { 0 }, '""' => sub { 'silent' }, fallback => 1 }

package Tied {
    sub TIESCALAR { my ($class, @values) = @_; return bless \@values, $class }
    sub FETCH     { return $_[0][0] }
}

# getline() of a class without close.
package Open { sub getline { return shift @{ $_[0] } } }

# AUTOLOAD instead of methods.
package Auto {
    our $AUTOLOAD;

    sub AUTOLOAD {
        my ($self) = @_;
        return if $AUTOLOAD eq 'Auto::DESTROY';
        return shift @$self if $AUTOLOAD eq 'Auto::getline';
        print STDERR "closed $self->[-1]\n" if $AUTOLOAD eq 'Auto::close';
        return;
    }
}

package main;

# An application whose body returns the parts.
sub parts { my (@parts) = @_; return with(200, [], @parts) }

sub with {
    my ($status, $headers, @parts) = @_;
    return sub { [$status, $headers, Body->new($_[0]{PATH_INFO}, @parts)] };
}

sub closing {
    my ($code) = @_;
    return sub {
        my $body = Body->new($_[0]{PATH_INFO}, 'a');
        $body->{on_close} = $code;
        return [200, [], $body];
    };
}

sub delayed { my ($app) = @_; return sub { my $response = $app->(@_); sub { $_[0]->($response) } } }

sub tied_part { tie my $part, 'Tied', 'tied'; return \$part }

my $length = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n";
my $begun  = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\na\r\n";
my $large  = 'x' x 300_000;
my @rows   = (
    ['two parts',        parts('a', 'bc'),                   chunked('', 'a', 'bc')],
    ['no part',          parts(),                            chunked('')],
    ['an empty part',    parts('a', '', 'b'),                chunked('', 'a', 'b')],
    ['numbers',          parts(1, 2.5),                      chunked('', '1', '2.5')],
    ['zero',             parts(0, '0'),                      chunked('', '0', '0')],
    ['an object',        parts(bless [], 'Text'),            chunked('', 'text')],
    ['flagged text',     parts("\xfc\x{263a}" =~ /(.)/),     chunked('', "\xfc")],
    ['tied text',        parts(sub { ${ tied_part() } }),    chunked('', 'tied')],
    ['delayed',          delayed(parts('a')),                chunked('', 'a')],
    ['$/ while reading', parts(sub { ref($/) . ${$/} }),     chunked('', 'SCALAR65536')],
    ['Content-Length',   with(200, ['Content-Length', 3], 'a', 'bc'), "${length}abc"],
    ['status 204',       with(204, [], 'a'),                 full('204 No Content', '')],
    ['status 304',       with(304, [], 'a'),                 full('304 Not Modified', '')],
    ['AUTOLOAD',         sub { [200, [], bless ['a', undef, $_[0]{PATH_INFO}], 'Auto'] }, chunked('', 'a')],
);
my @logged = (
    ['die in the first getline', parts(sub { die "broken\n" }), failed(), qr/: broken$/],
    ['die with an object', parts(sub { die bless [], 'Deaf' }), failed(), qr/: an exception that cannot be shown/],
    ['die with a false object', parts(sub { die bless [], 'Silent' }), failed(), qr/: silent$/],
    ['a wide character', parts("\x{263a}"),       failed(), qr/: Bontebok: the body has a wide character/],
    ['a wrong field',    with(200, ["\0", 1], 'a'), failed(), qr/has an invalid name/],
    ['a wrong status',   with(20, [], 'a'),       failed(), qr/: Bontebok: the status is no number/],
    ['die in close',     closing(sub { die "broken\n" }), chunked('', 'a'), qr/: the body's close has failed: broken$/],
    ['die in close with an object', closing(sub { die bless [], 'Deaf' }), chunked('', 'a'),
        qr/close has failed: an exc/],
    ['die in close with a false object', closing(sub { die bless [], 'Silent' }), chunked('', 'a'),
        qr/failed: silent$/],
);
my @ending = (
    ['die in a later getline', parts('a', sub { die "broken\n" }), $begun, qr/: broken$/],
    ['a later wide character', parts('a', "\x{263a}"), $begun, qr/: Bontebok: the body has a wide character/],
    ['a long Content-Length',  with(200, ['Content-Length', 3], 'a'), "${length}a", qr/: the body is shorter than its/],
);

check(
    (map { { name => $_->[0], app => $_->[1], want => $_->[2], closes => 1 } } @rows),
    (map { { name => $_->[0], app => $_->[1], want => $_->[2], closes => 1, log => $_->[3] } } @logged),
    (map { { name => $_->[0], app => $_->[1], want => $_->[2], closes => 1, log => $_->[3], ends => 1 } } @ending),
    { name => 'a short Content-Length', app => with(200, ['Content-Length', 3], 'ab', 'cd', 'ef'), closes => 1,
        ends => 1,
        want => "${length}abc" },
    { name => 'HEAD', method => 'HEAD', app => parts('a'), closes => 1,
        want => "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" },
    { name => 'HEAD does not read', method => 'HEAD', app => parts(sub { die }), closes => 1,
        want => "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" },
    { name => 'large parts', app => parts($large, $large), closes => 1, want => chunked_large() },
    { name => 'a class without close', app => sub { [200, [], bless ['a'], 'Open'] }, want => chunked('', 'a'),
        log => qr/close has failed: Can't locate object method "close" via package "Open"/ },
    { name => '$/ afterwards', app => sub { [200, [], [defined $/ && $/ eq "\n" ? 'newline' : 'other']] },
        want => full('200 OK', '', 'newline') },
);

# The core cuts large parts.
sub chunked_large {
    my $size = 256 * 1024;
    my @cut  = map { (substr($_, 0, $size), substr $_, $size) } $large, $large;
    return chunked('', @cut);
}

# HTTP/1.0 knows no chunks: the connection ends with the body.
my $server = TestServer->start(parts('a', 'bc'));
my $old    = $server->raw("GET / HTTP/1.0\r\n\r\n");
$old =~ s/^Date: [^\r\n]*\r\n//m;
is $old, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc", 'HTTP/1.0';
$old = $server->raw("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
like $old, qr/\r\nConnection: close\r\n\r\nabc\z/, 'HTTP/1.0 with keep-alive';

# The client resets the connection: no line in the log, and the body is closed.
sub endless { return sub { 'x' x 65536 } }
my $endless = TestServer->start(parts((endless()) x 100_000));
my $client  = $endless->connect;
$client->syswrite("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
$client->sysread(my $some, 1000);
close $client;
ok TestServer::eventually(sub { $endless->log =~ /closed/ }), 'the body is closed after a reset';
is $endless->stop, 0, 'exit status after a reset';
is $endless->log, "closed /\n", 'the log after a reset';

done_testing;
