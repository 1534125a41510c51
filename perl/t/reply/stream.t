# The responder and the writer: delayed responses and streams, and what happens if the application uses them wrongly.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Body ();
use Test::More;
use Table qw(check chunked failed full);

# An application with a responder.
sub responds { my ($code) = @_; return sub { my ($env) = @_; sub { $code->($_[0], $env) } } }

# An application that writes parts, and closes its writer.
sub writes {
    my ($status, $headers, @parts) = @_;
    return responds(sub { my $writer = $_[0]->([$status, $headers]); $writer->write($_) for @parts; $writer->close });
}

# An application with an open writer.
sub open_writer { my ($code) = @_; return responds(sub { $code->($_[0]->([200, []])) }) }

# What the code dies of, as a response.
sub dies { my ($code) = @_; return eval { $code->(); 'nothing' } || $@ =~ s/ at .*//sr }

my $kept;
my $begun = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
my $tail  = 'the writer is closed';
my @rows  = (
    ['delayed',      responds(sub { $_[0]->([200, ['X-A', 'b'], ['c']]) }), full('200 OK', "X-A: b\r\n", 'c')],
    ['delayed with a body object', responds(sub { $_[0]->([200, [], Body->new($_[1]{PATH_INFO}, 'a')]) }), chunked('',
        'a')],
    ['no part',      writes(200, []),                       chunked('')],
    ['parts',        writes(200, ['X-A', 'b'], 'c', 'de'),  chunked("X-A: b\r\n", 'c', 'de')],
    ['empty parts',  writes(200, [], '', 'a', undef, 'b'),  chunked('', 'a', 'b')],
    ['numbers',      writes(200, [], 1, 2.5),               chunked('', 1, 2.5)],
    ['flagged text', writes(200, [], substr("\xfc\x{263a}", 0, 1)), chunked('', "\xfc")],
    ['Content-Length', writes(200, ['Content-Length', 3], 'a', 'bc'),
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"],
    ['status 204',   writes(204, [], 'a'),                  full('204 No Content', '')],
    ['write is true', open_writer(sub { my $true = $_[0]->write('a'); $_[0]->write($true); $_[0]->close }), chunked('',
        'a', 1)],
    ['the responder returns nothing', responds(sub { my $result = $_[0]->([200, [], ['a']]); die if defined $result }),
        full('200 OK', '', 'a')],
    ['a writer in list context', responds(sub { my ($w) = $_[0]->([200, []]); $w->write('a'); $w->close }), chunked('',
        'a')],
    ['an exception that the application catches', open_writer(sub { eval { $_[0]->write("\x{263a}") }; $_[0]->close }),
        chunked('')],
    ['a writer after close', open_writer(sub { $kept = $_[0]; $kept->close }), chunked('')],
    ['a kept writer: write', sub { [200, [], [dies(sub { $kept->write('a') })]] }, full('200 OK', '',
        "Bontebok: $tail")],
    ['a kept writer: close', sub { [200, [], [dies(sub { $kept->close })]] }, full('200 OK', '', "Bontebok: $tail")],
    ['a kept writer, in a stream', open_writer(sub { my $died = dies(sub { $kept->write('a') }); $_[0]->write($died);
        $_[0]->close }), chunked('', "Bontebok: $tail")],
    ['a kept responder', responds(sub { $kept = $_[0]; $kept->([200, [], ['a']]) }), full('200 OK', '', 'a')],
    ['a kept responder: call', sub { [200, [], [dies(sub { $kept->([200, [], []]) })]] },
        full('200 OK', '', 'Bontebok: the responder was called after its request')],
    ['a kept responder, in another one', responds(sub { my $died = dies(sub { $kept->([200, []]) });
        $_[0]->([200, [], [$died]]) }), full('200 OK', '', 'Bontebok: the responder was called after its request')],
);
my $twice = responds(sub { $_[0]->([200, [], ['a']]); $_[0]->([200, [], ['b']]) });
my $write_after = open_writer(sub { $_[0]->write('a'); $_[0]->close; $_[0]->write('b') });
my $close_twice = open_writer(sub { $_[0]->close; $_[0]->close });
my @logged = (
    ['the responder is not called', responds(sub { 1 }), failed(), qr/: Bontebok: the responder was not called/],
    ['die before the responder', responds(sub { die "broken\n" }), failed(), qr/: broken$/],
    ['die after a response', responds(sub { $_[0]->([200, [], ['a']]); die "broken\n" }), full('200 OK', '', 'a'),
        qr/broken$/],
    ['the responder is called twice', $twice, full('200 OK', '', 'a'), qr/: Bontebok: the responder was called twice/],
    ['write after close', $write_after, chunked('', 'a'), qr/: Bontebok: the writer is closed/],
    ['close after close', $close_twice, chunked(''),      qr/: Bontebok: the writer is closed/],
    ['die after close', open_writer(sub { $_[0]->close; die "broken\n" }), chunked(''), qr/: broken$/],
    ['a hash for the responder', responds(sub { $_[0]->({}) }), failed(), qr/the responder needs an array reference/],
    ['nothing for the responder', responds(sub { $_[0]->() }), failed(), qr/Usage: \$responder->/],
    ['an array that is too short', responds(sub { $_[0]->([200]) }), failed(), qr/needs at least status and headers/],
    ['a wrong field in a stream', writes(200, ["\0", 'a'], 'a'), failed(), qr/has an invalid name/],
    ['a wrong response whose exception the application catches', responds(sub { eval { $_[0]->([200, [], {}]) } }),
        failed(),
        qr/: Bontebok: the response has failed, and the application has caught the exception/],
    ['a wrong stream whose exception the application catches', responds(sub { eval { $_[0]->([200, ['X-A']]) } }),
        failed(),
        qr/: Bontebok: the response has failed, and the application has caught the exception/],
);
my @ending = (
    ['the writer is dropped', open_writer(sub { $_[0]->write('') }), $begun, qr/: the writer was not closed$/],
    ['the writer is dropped at once', responds(sub { $_[0]->([200, []]); 1 }), $begun,
        qr/: the writer was not closed$/],
    ['the writer is kept and not closed', open_writer(sub { $kept = $_[0] }), $begun, qr/: the writer was not closed$/],
    ['die in a stream', open_writer(sub { $_[0]->write(''); die "broken\n" }), $begun, qr/: broken$/],
    ['the responder is called twice in a stream', responds(sub { my $writer = $_[0]->([200, []]); $_[0]->([200, []]) }),
        $begun, qr/: Bontebok: the responder was called twice/],
    ['a wide character', open_writer(sub { $_[0]->write("\x{263a}") }), $begun,
        qr/: Bontebok: the body has a wide character/],
    ['a Content-Length that is too long', writes(200, ['Content-Length', 3], 'a'),
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\na", qr/: the body is shorter than/],
);
my $head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

check(
    (map { { name => $_->[0], app => $_->[1], want => $_->[2] } } @rows),
    (map { { name => $_->[0], app => $_->[1], want => $_->[2], log => $_->[3] } } @logged),
    (map { { name => $_->[0], app => $_->[1], want => $_->[2], log => $_->[3], ends => 1 } } @ending),
    { name => 'HEAD', method => 'HEAD', app => writes(200, [], 'a'), want => $head },
    { name => 'HEAD, and the writer is dropped', method => 'HEAD', app => responds(sub { $_[0]->([200, []]); 1 }),
        want => $head, log => qr/: the writer was not closed$/ },
);

# Each part arrives before the next one is written.
pipe(my $read, my $write) or die "pipe: $!";
my $server = TestServer->start(open_writer(sub {
    my ($writer) = @_;
    close $write;
    while (defined(my $line = readline $read)) { $writer->write($line) }
    $writer->close;
}));
my $client = $server->connect;
$client->syswrite("GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
like until_seen(qr/\r\n\r\n/), qr/\AHTTP/, 'the head comes at once';
syswrite $write, "one\n";
is until_seen(qr/one\n\r\n/), "4\r\none\n\r\n", 'the first part comes at once';
close $write;
is TestServer::read_all($client), "0\r\n\r\n", 'the end';

sub until_seen {
    my ($pattern) = @_;
    my $all = '';
    while ($all !~ $pattern) { sysread $client, $all, 4096, length $all or last }
    return $all;
}

# An application in an endless stream is told that the client is gone.
for my $method (qw(GET HEAD)) {
    my $endless = TestServer->start(open_writer(sub {
        my ($writer) = @_;
        my @died = dies(sub { $writer->write('x' x 65536) while 1 });
        push @died, dies(sub { $writer->write('x') }), dies(sub { $writer->close });
        print STDERR map({ "$_\n" } @died), "end\n";
    }));
    my $reader = $endless->connect;
    $reader->syswrite("$method / HTTP/1.1\r\nHost: test\r\n\r\n");
    sysread $reader, my $some, 10;
    close $reader;
    ok TestServer::eventually(sub { $endless->log =~ /^end\n/m }), "$method: the stream ends";
    is $endless->stop, 0, "$method: exit status";
    my $gone = 'Bontebok: the client has gone, or does not read';
    is $endless->log, "$gone\n$gone\nnothing\nend\n", "$method: the log";
}

done_testing;
