# psgi.input reads the body like a handle on a file with the same bytes. The body is in memory, or in a spool file if it
# is above 1 MiB. It comes with a length or in chunks.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Digest::MD5 qw(md5_hex);
use EnvServer   ();
use Fcntl       qw(:seek);
use File::Temp  ();
use Test::More;
use TestServer ();

# Each calls methods or functions on a handle, and returns what they return.
my @scripts = (
    ['read all'  => sub { my ($h) = @_; my $n = read $h, my $all, 9e6; ($n, $all, eof $h, read($h, $all, 1), $all) }],
    ['read 0'    => sub { my ($h) = @_; my $n = read $h, my $part, 0; ($n, $part, tell $h, eof $h) }],
    ['parts'     => sub { my ($h) = @_; map { my $n = read($h, my $part, $_); ($n, $part, tell $h) } 1, 7, 100_000 }],
    ['offset'    => sub { my ($h) = @_; my $b = 'abc'; read $h, $b, 3, 5; read $h, $b, 2, -1; $b }],
    ['methods'   => sub { my ($h) = @_; $h->read(my $b, 5); $h->read($b, 2, 5); ($b, $h->tell, $h->eof, $h->opened) }],
    ['readline'  => sub { my ($h) = @_; my $first = <$h>; ($first, tell $h, scalar(<$h>), $., $h->input_line_number) }],
    ['all lines' => sub { my ($h) = @_; my @all = <$h>; (@all, eof $h, scalar <$h>) }],
    ['getline'   => sub { my ($h) = @_; ($h->getline, $h->getc, $h->getlines) }],
    ['slurp'     => sub { my ($h) = @_; local $/; (scalar <$h>, eof $h) }],
    ['blocks'    => sub { my ($h) = @_; local $/ = \4097; my @all = <$h>; (scalar @all, @all) }],
    ['paragraph' => sub { my ($h) = @_; local $/ = ''; my @all = <$h>; (scalar @all, @all) }],
    ['seek set'  => sub { my ($h) = @_; my @r = (seek($h, 5, SEEK_SET), tell $h); (@r, scalar <$h>) }],
    ['seek cur'  => sub { my ($h) = @_; read $h, my $b, 9; my $r = seek $h, -3, SEEK_CUR; ($r, tell $h, scalar <$h>) }],
    ['seek end'  => sub { my ($h) = @_; my $r = seek $h, -4, SEEK_END; ($r, tell $h, <$h>, eof $h) }],
    ['size'      => sub { my ($h) = @_; seek $h, 0, SEEK_END; (tell $h, eof $h, scalar <$h>) }],
    ['beyond'    => sub { my ($h) = @_; my $r = $h->seek(8e6, SEEK_SET); ($r, tell $h, eof $h, scalar <$h>) }],
    # Perl 5.16 itself fails here with a handle in memory.
    $] < 5.018 ? () : ['negative' => sub {
        my ($h) = @_; no warnings; my $r = seek $h, -1, 0; ($r ? 1 : 0, tell $h, scalar <$h>) }],
    ['rewind'    => sub { my ($h) = @_; local $/; my $all = <$h>; seek $h, 0, 0; ($all eq <$h>, eof $h, tell $h) }],
    ['ungetc'    => sub { my ($h) = @_; my $c = getc $h; $h->ungetc(ord 'Z'); ($c, scalar <$h>) }],
    ['binmode'   => sub { my ($h) = @_; (binmode($h) ? 1 : 0, scalar <$h>) }],
    ['utf8'      => sub { my ($h) = @_; binmode $h, ':encoding(ISO-8859-1)'; my $b = <$h>; ($b, utf8::is_utf8($b)) }],
    ['print'     => sub { my ($h) = @_; no warnings; my $r = print {$h} 'x'; ($r ? 1 : 0, scalar <$h>) }],
    ['class'     => sub { my ($h) = @_; (ref $h, $h->can('getline') ? 1 : 0, utf8::is_utf8(scalar <$h>) ? 1 : 0) }],
    ['close'     => sub { my ($h) = @_; no warnings; my $r = close $h; ($r, $h->opened ? 1 : 0, scalar <$h>) }],
    ['warning'   => sub { my ($h) = @_; my $line = <$h>; my $w = ''; local $SIG{__WARN__} = sub { $w = 1 }; warn; $w }],
);

# Only a handle with a descriptor: what goes past the buffer of the handle.
my @file_scripts = (
    ['sysread' => sub { my ($h) = @_; my $n = sysread $h, my $b, 11; ($n, $b, sysread($h, $b, 5, 11), $b) }],
    ['sysseek' => sub { my ($h) = @_; my $at = sysseek $h, 4, 0; sysread $h, my $b, 4; ($at, $b, sysseek $h, 0, 1) }],
    ['size'    => sub { my ($h) = @_; (-s $h, -f $h ? 1 : 0, -p $h ? 1 : 0) }],
    ['dup'     => sub { my ($h) = @_; open my $copy, '<&', $h or return $!; close $h; (scalar <$copy>, tell $copy) }],
);

sub shown {
    my @values = map { $_ // 'undef' } @_;
    return join '|', map { length($_) > 60 ? length($_) . ' ' . md5_hex($_) : sprintf '%vd', $_ } @values;
}

# The script with this number has the query's number.
my $server = TestServer->start(
    sub {
        my ($env) = @_;
        my ($kind, $number) = split /,/, $env->{QUERY_STRING};
        my $script = ($kind eq 'any' ? \@scripts : \@file_scripts)->[$number][1];
        return [200, [], [fileno($env->{'psgi.input'}) . ' ' . shown($script->($env->{'psgi.input'}))]];
    }
);

sub expected {
    my ($bytes, $script) = @_;
    my $file = File::Temp->new;
    print {$file} $bytes or die "print: $!";
    $file->flush;
    my $handle = IO::File->new("$file", 'r') or die "open: $!";
    return shown($script->($handle));
}

sub chunked {
    my ($bytes) = @_;
    my @chunks = unpack '(a50000)*', $bytes;
    return join '', map { sprintf "%x\r\n%s\r\n", length, $_ } @chunks, '';
}

my $text   = "first line\nsecond\r\n\n\n\xe4\xff\0 \xc3\xa4\nno end";
my $long   = join '', map { "line $_ " . 'x' x ($_ % 500) . "\n" } 1 .. 8000;
my $lines  = 'y' x 1048575 . "\n";
my %bodies = (memory => $text, 'exactly 1 MiB' => $lines, 'one byte more' => "$lines\n", spool => $long);

for my $name (sort keys %bodies) {
    my $bytes   = $bodies{$name};
    my $in_file = length $bytes > 1048576;
    my %tables  = (any => \@scripts, $in_file ? (file => \@file_scripts) : ());
    for my $kind (sort keys %tables) {
        my @table = @{ $tables{$kind} };
        for my $number (0 .. $#table) {
            my ($title, $script) = @{ $table[$number] };
            my $expected = expected($bytes, $script);
            my $target   = "/?$kind,$number";
            my $chunks   = EnvServer::http("POST $target HTTP/1.1", ['Transfer-Encoding: chunked'], chunked($bytes));
            for my $response ($server->post($target, $bytes), $server->raw($chunks)) {
                my ($descriptor, $actual) = $response =~ /\r\n\r\n(-?[0-9]+) (.*)\z/s;
                is $actual // $response, $expected, "$name: $title";
                next if $title eq 'close' || $name eq 'exactly 1 MiB';    # a busy lane may get it in a file
                is $descriptor > 2, $in_file, "$name: $title: a descriptor";
            }
        }
    }
}
is $server->log, '', 'the log';

done_testing;
