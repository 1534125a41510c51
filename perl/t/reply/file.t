# Bodies that are handles. A plain file at its beginning leaves as a file: with Content-Length,
# Accept-Ranges and ranges.
# Any other handle is read by getline, so it has chunks.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Fcntl qw(O_RDONLY O_RDWR);
use File::Temp ();
use IO::File ();
use Plack::Util ();
use Test::More;
use Table qw(check chunked full);

package Counting { our @ISA = ('IO::File'); sub getline { my ($self) = @_; return scalar readline $self } }

package Plain { our @ISA = ('IO::File') }

package Tied {
    sub TIEHANDLE { my ($class, @parts) = @_; return bless \@parts, $class }
    sub READLINE  { return shift @{ $_[0] } }
    sub CLOSE     { return 1 }
}

package main;

my $directory = File::Temp->newdir;
my $text      = "line one\nline two\n\xc3\xa9\r\n";
my $path      = path('file', $text);
my $empty     = path('empty', '');

sub path {
    my ($name, $bytes) = @_;
    open my $file, '>', "$directory/$name" or die "open: $!";
    print {$file} $bytes;
    close $file or die "close: $!";
    return "$directory/$name";
}

sub opened {
    my ($mode, $file) = @_;
    open my $handle, $mode, $file // $path or die "open: $!";
    return $handle;
}

sub app { my ($make, @fields) = @_; return sub { [200, [@fields], $make->()] } }
sub temporary { my $file = File::Temp->new(DIR => $directory); print {$file} $text; seek $file, 0, 0; return $file }
sub read_some { my ($bytes) = @_; my $file = opened('<'); read $file, my ($buffer), $bytes; return $file }

sub tied_handle {
    my $handle = IO::File->new;
    tie *$handle, 'Tied', 'a', 'b';
    return $handle;
}

sub ranged { my ($status, $range, $part) = @_; return full($status,
    "Content-Range: bytes $range\r\nAccept-Ranges: bytes\r\n", $part) }

my $tail = substr $text, 4;
my $whole = full('200 OK', "Accept-Ranges: bytes\r\n", $text);
my @files = (
    ['a lexical handle',     sub { opened('<') }],
    ['an IO::File',          sub { IO::File->new($path, 'r') }],
    ['sysopen',              sub { sysopen my $file, $path, O_RDONLY or die; $file }],
    ['read and write',       sub { opened('+<') }],
    ['sysopen, read and write', sub { IO::File->new($path, O_RDWR) }],
    ['a reference to a glob', sub { open FILE, '<', $path or die; \*FILE }],
    ['binmode',              sub { my $file = opened('<'); binmode $file; $file }],
    [':raw',                 sub { opened('<:raw') }],
    [':unix',                sub { opened('<:unix') }],
    [':stdio',               sub { opened('<:stdio') }],
    ['set_io_path',          sub { my $file = opened('<'); Plack::Util::set_io_path($file, '/elsewhere'); $file }],
    ['a subclass without getline', sub { bless opened('<'), 'Plain' }],
    ['File::Temp',           \&temporary],
    ['read and rewound',     sub { my $file = read_some(3); seek $file, 0, 0; $file }],
    ['a deleted file',       sub { my $file = opened('<', path('gone', $text)); unlink "$directory/gone"; $file }],
);
my @lines = (
    ['an empty file',   sub { opened('<', $empty) }],
    ['after a read',    sub { read_some(4) }, $tail],
    ['after a seek',    sub { my $file = opened('<'); sysseek $file, 4, 0; $file }, $tail],
    ['at the end',      sub { read_some(1000) }],
    ['a glob',          sub { open FILE, '<', $path or die; *FILE }, $text],
    ['an IO object',    sub { open FILE, '<', $path or die; *FILE{IO} }, $text],
    [':crlf',           sub { opened('<:crlf') }, "line one\nline two\n\xc3\xa9\n"],
    [':utf8',           sub { opened('<:utf8') }, "line one\nline two\n\xe9\r\n"],
    [':encoding',       sub { opened('<:encoding(UTF-8)') }, "line one\nline two\n\xe9\r\n"],
    ['a subclass with getline', sub { bless opened('<'), 'Counting' }, $text],
    ['a handle whose IO object has a class', sub { my $file = opened('<'); bless *$file{IO}, 'Counting'; $file },
        $text],
    ['a string',        sub { opened('<', \$text) }, $text],
    ['a pipe',          sub { open my $pipe, '-|', 'cat', $path or die; $pipe }, $text],
    ['a tied handle',   \&tied_handle, 'a', 'b'],
    ['a file for appending', sub { my $file = opened('+>>'); seek $file, 0, 0; $file }, $text],
);
my @ranges = (
    ['a range', "Range: bytes=5-7\r\n", ranged('206 Partial Content', "5-7/$_", 'one')],
    ['the last bytes', "Range: bytes=-2\r\n", ranged('206 Partial Content', ($_ - 2) . '-' . ($_ - 1) . "/$_", "\r\n")],
    ['If-Range that matches', "Range: bytes=5-7\r\nIf-Range: \"tag\"\r\n", ranged('206 Partial Content', "5-7/$_",
        'one')],
    ['If-Range that differs', "Range: bytes=5-7\r\nIf-Range: \"other\"\r\n", $whole],
    ['a malformed range', "Range: bytes=x\r\n", $whole],
) for length $text;
s/^(HTTP[^\n]*\n)/$1ETag: "tag"\r\n/ for map { $_->[2] } @ranges;

check(
    (map { { name => $_->[0], app => app($_->[1]), want => $whole } } @files),
    (map { my ($name, $make, @parts) = @$_; { name => $name, app => app($make), want => chunked('', @parts) } } @lines),
    (map { { name => $_->[0], app => app(sub { opened('<') }, 'ETag', '"tag"'), fields => $_->[1],
        want => $_->[2] } } @ranges),
    { name => 'a range beyond the end', app => app(sub { opened('<') }), fields => "Range: bytes=900-\r\n",
        want => full('416 Range Not Satisfiable',
            "Accept-Ranges: bytes\r\nContent-Range: bytes */${\length $text}\r\n", '') },
    { name => 'a range of other handles', app => app(sub { opened('<', \$text) }), fields => "Range: bytes=5-7\r\n",
        want => chunked('', $text) },
    { name => 'HEAD', method => 'HEAD', app => app(sub { opened('<') }),
        want => substr($whole, 0, -length $text) },
    { name => 'status 304', app => sub { [304, [], opened('<')] }, want => full('304 Not Modified', '') },
    { name => 'a Content-Length that is too short', app => app(sub { opened('<') }, 'Content-Length', 8),
        want => "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nContent-Length: 8\r\nConnection: close\r\n\r\nline one" },
    { name => 'a Content-Length that is too long', app => app(sub { opened('<') }, 'Content-Length', 99), ends => 1,
        want => "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nConnection: close\r\n\r\n$text", log => qr/is shorter than/ },
    { name => 'delayed', app => sub { sub { $_[0]->([200, [], opened('<')]) } }, want => $whole },
);

# A file in /proc has the size 0, and more bytes.
SKIP: {
    -s '/proc/self/status' == 0 && -r _ or skip 'no /proc', 1;
    my $server = TestServer->start(app(sub { opened('<', '/proc/self/status') }));
    like $server->get('/'), qr/^Pid:\s+${\$server->pid}$/m, 'a file in /proc';
}

done_testing;
