# The fields by which an application frames its response itself, for each kind of body.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Test::More;
use Plack::Util ();
use Table qw(check chunked failed full);
use TestServer ();

my @CHUNKS = ("3\r\none\r\n", "3;a=b\r\ntwo\r\n", "0\r\nx-sum: 1\r\n\r\n");
my @PLAIN  = qw(one two);
my @CODED  = ('Transfer-Encoding', 'chunked');

sub handle { my @parts = @_; return Plack::Util::inline_object(getline => sub { shift @parts }, close => sub { }) }

my %body = (
    array => sub { my ($status, $fields, @parts) = @_; sub { [$status, $fields, [@parts]] } },
    lines => sub { my ($status, $fields, @parts) = @_; sub { [$status, $fields, handle(@parts)] } },
    stream => sub {
        my ($status, $fields, @parts) = @_;
        sub { sub { my $writer = $_[0]->([$status, $fields]); $writer->write($_) for @parts; $writer->close } };
    },
);
my @absent = (
    ['Content-Length', undef], ['Content-Length', ''], ['Content-Length', ' '], ['Transfer-Encoding', undef],
    ['Transfer-Encoding', ''], ['Transfer-Encoding', 'identity'], ['Connection', undef],
    ['Connection', 'keep-alive'], ['Keep-Alive', 'timeout=5'], ['Upgrade', 'h2c'], ['Date', undef], ['Server', ''],
);
my $head   = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
my $coded  = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
my $length = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n";
my $fault  = qr/: (?:Bontebok: )?Transfer-Encoding is chunked, but the body is not in chunks, or lacks the last chunk/;

my @rows;
for my $kind (sort keys %body) {
    my $body  = $body{$kind};
    my $plain = $kind eq 'array' ? full('200 OK', '', 'onetwo') : chunked('', @PLAIN);
    for my $fields (@absent) {
        my $name = join ' ', $kind, map { defined $_ ? "'$_'" : 'undef' } @$fields;
        push @rows, { name => $name, app => $body->(200, $fields, @PLAIN), want => $plain },
            { name => "$name, 204", app => $body->(204, $fields), want => full('204 No Content', '') },
            { name => "$name, HEAD", app => $body->(200, $fields, @PLAIN), want => $head, method => 'HEAD' };
    }
    for my $value (6, '06', ' 6 ') {
        push @rows, { name => "$kind, Content-Length '$value'", app => $body->(200, ['Content-Length', $value], @PLAIN),
            want => "${length}onetwo" };
    }
    for my $fields (\@CODED, [@CODED, 'Content-Length', 6], ['transfer-encoding', 'Chunked']) {
        push @rows, { name => "$kind, @$fields", app => $body->(200, $fields, @CHUNKS),
            want => join('', $coded, @CHUNKS) };
    }
    push @rows, { name => "$kind in chunks, HEAD", app => $body->(200, \@CODED, @CHUNKS), want => $head,
        method => 'HEAD' },
        { name => "$kind in chunks, 304", app => $body->(304, \@CODED, @CHUNKS), want => full('304 Not Modified', '') };
    push @rows, { name => "$kind not in chunks", app => $body->(200, \@CODED, @PLAIN), log => $fault,
        $kind eq 'stream' ? (want => $coded, ends => 1) : (want => failed()) };
    next if $kind eq 'stream';
    push @rows, { name => "$kind without the last chunk", app => $body->(200, \@CODED, @CHUNKS[0, 1]), ends => 1,
        want => join('', $coded, @CHUNKS[0, 1]), log => $fault };
}
push @rows, map { { name => "@$_", app => $body{array}->(200, $_, @PLAIN), want => failed(),
    log => qr/: Bontebok: the field "$_->[0]" has an invalid value/ } }
    ['Transfer-Encoding', 'gzip, chunked'], ['Content-Length', '6, 6'], ['Content-Length', '-1'];

check(@rows);

# HTTP/1.0 knows no chunks.
for my $kind (sort keys %body) {
    my $server = TestServer->start($body{$kind}->(200, \@CODED, @CHUNKS));
    my $seen   = $server->raw("GET / HTTP/1.0\r\n\r\n");
    $seen =~ s/^Date: [^\r\n]*\r\n//m;
    is $seen, "${head}onetwo", "$kind, HTTP/1.0";
}

done_testing;
