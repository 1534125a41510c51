# psgi.errors and the server's log go to STDERR at once. An entry of the log is one line, or its further lines are
# indented. A STDERR that the application has closed or replaced does no harm.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/lib";

use Command    ();
use IO::Handle ();
use Socket     qw(AF_UNIX SOCK_SEQPACKET);
use Test::More;
use TestServer ();

sub body_of { return $_[0] =~ /\r\n\r\n(.*)\z/s ? $1 : "no response: $_[0]" }

# ---- psgi.errors ----

my $server = TestServer->start(
    sub {
        my ($env)  = @_;
        my $errors = $env->{'psgi.errors'};
        my @sizes  = -s STDERR;
        print {$errors} 'one, ', "two\n" and push @sizes, -s STDERR;
        $errors->print('a method')       and push @sizes, -s STDERR;
        printf {$errors} " and %s\n", 'a format';
        push @sizes, -s STDERR;
        warn "a warning\n";
        push @sizes, -s STDERR;
        return [200, [], ["@sizes"]];
    }
);
is body_of($server->get('/')), '0 9 17 31 41', 'each call writes at once';
is $server->log, "one, two\na method and a format\na warning\n", 'what the application prints';

# A layer with a buffer.
$server = Command->start(
    app => q{use open qw(:std :encoding(UTF-8)); sub {
        print { $_[0]{'psgi.errors'} } "\x{263a}\n";
        my $size = -s STDERR;
        die 'after' if $_[0]{PATH_INFO} eq '/die';
        [200, [], [$size]] } }
);
is body_of($server->get('/')), 4, 'a layer with a buffer';
like $server->get('/die'), qr/\AHTTP\/1\.1 500 /, 'the response to an exception';
like $server->log, qr/\A(?:\xe2\x98\xba\n){2}[^\n]* GET \/die: after at [^\n]*\n\z/, 'the order of lines';

# ---- entries of the log ----

{

    package Text;
    use overload '""' => sub { "a text\nof an object\n" };

    package NoText;
    use overload '""' => sub { die 'no text' };
}

# What the application throws, and the entry after the time, the level and the process.
my $start   = qr/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z error [0-9]+ - - GET \/0: /;
my @entries = (
    [text         => "a reason\n",              "a reason\n"],
    ['no newline' => 'a reason',                qr/a reason at \S+errors\.t line [0-9]+\.\n/],
    [lines        => "one\ntwo\n\nthree\n\n",   "one\n  two\n  \n  three\n"],
    [control      => "a\r\0\e[31m\x7f\tb\n",    "a\\x0d\\x00\\x1b[31m\\x7f\tb\n"],
    [utf8         => "\xc3\xa4\n",             "\xc3\xa4\n"],
    ['a control'  => "\xc2\x9b\n",             "\\xc2\\x9b\n"],
    ['no utf8'    => "\xc3\xa4\xe4\n",          "\\xc3\\xa4\\xe4\n"],
    [characters   => "\x{e4}\x{263a}\n",        "\xc3\xa4\xe2\x98\xba\n"],
    [percent      => "%s %n\n",                 "%s %n\n"],
    [long         => 'x' x 100_000 . "\n",      'x' x (65_536 - length 'GET /0: ') . "...\n"],
    [object       => bless([], 'Text'),         "a text\n  of an object\n"],
    [hash         => { a => 1 },                qr/HASH\(0x[0-9a-f]+\)\n/],
    ['no text'    => bless([], 'NoText'),       "an exception that cannot be shown, of NoText\n"],
    [false        => bless([], 'False'),        qr/False=ARRAY\(0x[0-9a-f]+\)\n/],
);
for my $row (@entries) {
    my ($name, $exception, $expected) = @$row;
    $server = TestServer->start(sub { die $exception });
    like $server->get('/0'), qr/\AHTTP\/1\.1 500 /, "$name: the response";
    my $rest = ref $expected eq 'Regexp' ? $expected : quotemeta $expected;
    like $server->log, qr/\A$start$rest\z/, "$name: the entry";
}

# Variables that change what print() writes.
$server = TestServer->start(sub { ($,, $\) = ('-', '+'); $| = 0; die "a reason\n" });
$server->get('/0') for 1, 2;
like $server->log, qr/\A(?:${start}a reason\n){2}\z/, 'variables of print';

# Entries of several processes do not mix, because each is one call of write(2): here one packet.
socketpair my $read, my $write, AF_UNIX, SOCK_SEQPACKET, 0 or die "socketpair: $!";
$server = TestServer->start(sub { open STDERR, '>&', $write or die; die 'y' x 60_000, "\n" });
$server->get('/0');
sysread $read, my $packet, 100_000;
like $packet, qr/\A${start}y+\n\z/, 'one call of write(2)';
is $packet =~ tr/y//, 60_000, 'its length';

# ---- another STDERR ----

my $memory = '';
my @others = (
    [closed      => sub { close STDERR }],
    ['in memory' => sub { close STDERR; open STDERR, '>', \$memory }],
    [tied        => sub { tie *STDERR, 'Tied' }],
    ['a full device' => sub { open STDERR, '>', '/dev/full' }],
    ['a closed pipe' => sub { pipe my $read, my $write; open STDERR, '>&', $write; close $read }],
    ['read only'     => sub { open STDERR, '<', '/dev/null' }],
    ['undefined'     => sub { undef *STDERR }],
);
sub Tied::TIEHANDLE { return bless [], shift }
sub Tied::PRINT     { $memory .= $_[1]; return 1 }

for my $row (@others) {
    my ($name, $change) = @$row;
    $server = TestServer->start(
        sub {
            my ($env) = @_;
            $change->() if $env->{PATH_INFO} eq '/change';
            return [200, [], [$memory]] if $env->{PATH_INFO} ne '/0';
            ($,, $\) = ('-', '+');
            die "a reason\n";
        }
    );
    $server->get('/change');
    like $server->get('/0'), qr/\AHTTP\/1\.1 500 /, "STDERR is $name: the response";
    like $server->get('/'),  qr/\AHTTP\/1\.1 200 /, "STDERR is $name: the next request";
    like body_of($server->get('/')), qr/\A${start}a reason\n\z/, "STDERR is $name: the entry"
      if $name eq 'in memory' || $name eq 'tied';
    is $server->log, '', "STDERR is $name: the former log";
    is $server->stop, 0, "STDERR is $name: the end";
}

done_testing;
