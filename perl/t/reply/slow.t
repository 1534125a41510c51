# Clients that are slow, send half a request, send several requests at once, or leave in the middle of a response.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Body ();
use Digest::MD5 qw(md5_hex);
use File::Temp ();
use Test::More;
use TestServer ();

use constant SIZE => 20_000_000;

my $block = join '', map { sprintf "%07x\n", $_ } 1 .. 12_500;    # 100,000 bytes
my $large = $block x 200;
my $file  = File::Temp->new;
print {$file} $large;
close $file;

sub streams { my ($code) = @_; return sub { $code->($_[0]->([200, []])) } }
my %apps = (
    array => sub { [200, [], [$large]] },
    parts => sub { [200, [], [($block) x 200]] },
    flagged => sub { my $copy = $large; utf8::upgrade($copy); [200, [], [$copy]] },
    lines => sub { [200, [], Body->new('x', ($block) x 200)] },
    file  => sub { open my $body, '<', "$file" or die "open: $!"; [200, [], $body] },
    string => sub { open my $body, '<', \$large or die "open: $!"; [200, [], $body] },
    stream => sub { streams(sub { my ($writer) = @_; $writer->write($block) for 1 .. 200; $writer->close }) },
    write => sub { streams(sub { my ($writer) = @_; $writer->write($large); $writer->close }) },
    'flagged write' => sub { streams(sub { my ($writer) = @_; utf8::upgrade(my $copy = $large); $writer->write($copy);
        $writer->close }) },
    small => sub { [200, [], [$_[0]{REQUEST_METHOD}, $_[0]{PATH_INFO}]] },
);

sub dechunked {
    my ($bytes) = @_;
    my ($head, $rest) = split /\r\n\r\n/, $bytes, 2;
    return $rest if $head !~ /^Transfer-Encoding: chunked/m;
    my $body = '';
    while ($rest =~ /\G([0-9a-f]+)\r\n/gc) {
        return $body if $1 eq '0';
        $body .= substr $rest, pos $rest, hex $1;
        pos($rest) += 2 + hex $1;
    }
    return 'no last chunk';
}

# Reads little at a time.
sub read_slowly {
    my ($socket) = @_;
    my ($all, $count) = ('', 0);
    while (sysread $socket, $all, 20_000, length $all) { select undef, undef, undef, 0.001 if $count++ % 16 == 0 }
    return $all;
}

sub request { my ($path, @fields) = @_; return join "\r\n", "GET $path HTTP/1.1", 'Host: test', @fields, '', '' }
my $close = 'Connection: close';

# Once with the server's own limits, and once with limits so small that the application waits for the client.
for my $limits ({}, { spool_max => 65536, response_buffer => 65536 }) {
    my $settings = \&Bontebok::Options::settings;
    no warnings 'redefine';
    local *Bontebok::Options::settings = sub { return { %{ $settings->(@_) }, %$limits } };
    use warnings 'redefine';
    my $server = TestServer->start(sub { $apps{ $_[0]{QUERY_STRING} =~ s/%20/ /r }->(@_) });
    my $name   = %$limits ? 'small limits' : 'usual limits';
    for my $kind (sort keys %apps) {
        next if $kind eq 'small';
        my $socket = $server->connect;
        (my $query = $kind) =~ s/ /%20/;
        syswrite $socket, request("/?$query") . request('/next?small', $close);
        my ($first, $second) = read_slowly($socket) =~ m{\A(.*)(HTTP/1\.1 200 OK\r\n.*?/next)\z}s;
        my $body = dechunked($first // '');
        ok $body eq $large, "$name, $kind: the body" or diag length $body, ' ', md5_hex($body), ' ', substr $body, 0,
            200;
        like $second // '', qr{GET/next\z}, "$name, $kind: the next response";
    }
    my $before = $server->log;
    is $before =~ s/^closed x\n//gmr, '', "$name: the log";

    # The client leaves in the middle: another one is served, and the log has no error.
    for my $kind (sort keys %apps) {
        (my $query = $kind) =~ s/ /%20/;
        my $socket = $server->connect;
        syswrite $socket, request("/?$query");
        sysread $socket, my $some, 100;
        close $socket;
        like $server->get('/?small'), qr{GET/\z}, "$name, $kind: another client is served";
    }
    is $server->stop, 0, "$name: the exit status";
    unlike $server->log, qr/ error /, "$name: the log after clients that left";
}

# Requests at once, and halves of requests.
my $server = TestServer->start($apps{small});
my $all    = $server->raw(join '', (map { request("/$_") } 1 .. 50), request('/last', $close));
is join(' ', $all =~ m{\r\n\r\nGET/([a-z0-9]+)}g), join(' ', 1 .. 50, 'last'),
    'pipelined requests are answered in order';
for my $half ("G", "GET / HTTP/1.1\r\nHost: te", "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 10\r\n\r\nhalf",
    "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")
{
    my $socket = $server->connect;
    syswrite $socket, $half;
    close $socket;
    like $server->get('/'), qr{GET/\z}, 'after half a request';
    $socket = $server->connect;
    syswrite $socket, $half;
    shutdown $socket, 1;
    unlike TestServer::read_all($socket), qr/200 OK/, 'half a request, and the end of input';
}
is $server->stop, 0, 'the exit status';
unlike $server->log, qr/ (?:error|warn) /, 'the log';

done_testing;
