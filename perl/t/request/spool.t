# No room for a body: the disk is full, spool_max is reached, or the file has reached its size limit. The client gets
# 507, the application is not called, and other requests go on. No descriptor for psgi.input: 500.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok::Options ();
use Command           ();
use EnvServer         ();
use Test::More;
use TestServer ();

use constant MIB => 1024 * 1024;

my $app = 'sub { read $_[0]{"psgi.input"}, my $body, 9e6; print STDERR "called\n" if length $body > 5e6;'
  . ' [200, [], [length $body]] }';
my $refusal = "HTTP/1.1 507 Insufficient Storage\r\nContent-Type: text/plain\r\nContent-Length: 25\r\n"
  . "Connection: close\r\n\r\n507 Insufficient Storage\n";

sub chunked {
    my ($bytes) = @_;
    return join '', map { sprintf "%x\r\n%s\r\n", length, $_ } unpack('(a1000000)*', $bytes), '';
}

# A server whose core has other settings.
sub server_with {
    my (%settings) = @_;
    my $original = \&Bontebok::Options::settings;
    no warnings 'redefine';
    local *Bontebok::Options::settings = sub { return { %{ $original->(@_) }, %settings } };
    return TestServer->start(eval $app);    ## no critic (BuiltinFunctions::ProhibitStringyEval)
}

# A disk of 4 MiB. Undef: this user cannot mount.
my ($disk, $mounted) = File::Temp->newdir;
sub disk { return $mounted = system("mount -t tmpfs -o size=4m,mode=0700 tmpfs $disk 2>&1") == 0 }
END { system "umount $disk" if $mounted }

my @rows = (
    ['spool_max' => 'spool_max reached \(507\)', sub { server_with(spool_max => '4M') }],
    ['a full disk' => '\(507\): No space left on device', sub { disk() ? server_with(spool_dir => "$disk") : undef }],
    ['ulimit -f'   => '\(507\): File too large', sub { Command->start(app => $app, limit => '-f 8192') }],
);
for my $row (@rows) {
    my ($name, $reason, $start) = @$row;
SKIP: {
        my $server = $start->() or skip "$name: needs the right to mount a file system", 1;
        my $other  = $server->connect;
        my $body   = 'x' x (6 * MIB);
        my $chunks = EnvServer::http('POST / HTTP/1.1', ['Transfer-Encoding: chunked'], chunked($body));
        my %first  = (length => sub { $server->post('/', $body) }, chunks => sub { $server->raw($chunks) });
        for my $kind (sort keys %first) {
            my $response = $first{$kind}->();
            $response =~ s/^Date: [^\r\n]*\r\n//m;
            is $response, $refusal, "$name: the response to a body with $kind";
            syswrite $other, "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
            sysread $other, my $answer, 1000;
            like $answer, qr{\AHTTP/1\.1 200 .*\r\n\r\n0\z}s, "$name: another connection after $kind";
        }
        like $server->post('/', 'x' x (3 * MIB)), qr/\r\n\r\n3145728\z/, "$name: a smaller body";
        close $other;
        is $server->stop, 0, "$name: the end";
        like $server->log, qr/\A(?:\S+ warn [^\n]*: spool: [^\n]*$reason[^\n]*\n)+\z/, "$name: the log";
    }
}

# ---- no descriptor is left for psgi.input ----

# The first request takes all descriptors except as many as the query says, and the last one gives them back.
my $greedy = <<'END';
my @taken;
sub {
    my ($env) = @_;
    if ($env->{PATH_INFO} eq '/take') {
        while (open my $file, '<', '/dev/null') { push @taken, $file }
        splice @taken, 0, $env->{QUERY_STRING};
    }
    @taken = () if $env->{PATH_INFO} eq '/free';
    read $env->{'psgi.input'}, my $body, 9e6;
    [200, ['Content-Type' => 'text/plain'], [length($body) . '.']];
};
END
my $server = Command->start(app => $greedy, limit => '-n 64');
my $client = $server->connect;

# Returns the status and the body of the response on the kept connection.
sub answer {
    my ($line, $body) = @_;
    syswrite $client, "$line\r\nHost: a\r\nContent-Length: " . length($body) . "\r\n\r\n";
    for (my $at = 0; $at < length $body;) { $at += syswrite($client, $body, MIB, $at) // last }
    my $response = '';
    while ($response !~ /\r\n\r\n.*[.\n]\z/s) {
        sysread $client, $response, 1000, length $response or last;
    }
    my ($status, $text) = $response =~ m{\AHTTP/1\.1 ([0-9]+) .*\r\n\r\n(.*)\z}s;
    return defined $status ? "$status $text" : "no response: $response";
}
is answer('GET /take?1 HTTP/1.1', ''), '200 0.', 'descriptors are taken';
is answer('POST / HTTP/1.1', 'x' x (2 * MIB)), "500 500 Internal Server Error\n", 'no descriptor is left';
is answer('GET / HTTP/1.1', ''), '200 0.', 'no descriptor is left, but no body has come';
is answer('POST / HTTP/1.1', 'x' x 1000), '200 1000.', 'no descriptor is left, but the body is in memory';
is answer('GET /free HTTP/1.1', ''), '200 0.', 'descriptors are given back';
is answer('POST / HTTP/1.1', 'x' x (2 * MIB)), '200 2097152.', 'a big body again';
like $server->log, qr{\A\S+ error \S+ - - POST /: Bontebok: cannot open psgi\.input: Too many open files[^\n]*\n\z},
  'the log';

done_testing;
