# Values of Perl: a server that runs in this process leaves none behind, of any kind of response. Needs Test::LeakTrace.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/lib";

use File::Temp ();
use POSIX ();
use Test::More;
use TestServer ();

eval { require Test::LeakTrace; 1 } or plan skip_all => 'Test::LeakTrace is absent';

package Text { use overload '""' => sub { 'text' }, fallback => 1 }

package main;

sub responds { my ($code) = @_; return sub { my ($env) = @_; sub { $code->($_[0], $env) } } }
sub stream { my ($code) = @_; return responds(sub { $code->($_[0]->([200, []])) }) }
sub opened { my ($of) = @_; open my $file, '<', $of or die "open: $!"; return [200, [], $file] }

my $file = File::Temp->new;
print {$file} 'abc';
close $file;

my %apps = (
    array    => sub { [200, ['X-A', bless([], 'Text')], [1, undef, bless([], 'Text'), substr "\xfc\x{263a}", 0, 1]] },
    file     => sub { opened("$file") },
    string   => sub { opened(\'abc') },
    delayed  => responds(sub { $_[0]->([200, [], ['a']]) }),
    stream   => stream(sub { $_[0]->write($_) for 'a', 1; $_[0]->close }),
    dropped  => stream(sub { $_[0]->write('a') }),
    uncalled => responds(sub { 1 }),
    twice    => responds(sub { $_[0]->([200, [], ['a']]) for 1, 2 }),
    die      => sub { die "broken\n" },
    object   => sub { die bless [], 'Text' },
    wrong    => sub { [200, ['X-A'], []] },
    wide     => sub { [200, [], ["\x{263a}"]] },
    nothing  => sub { undef },
    short    => sub { [200, ['Content-Length', 9], ['a']] },
    input    => sub { local $/; [200, [], [readline $_[0]{'psgi.input'}]] },
);

# Serves this many requests to a child, which then ends the server.
sub serve {
    my ($app, $count) = @_;
    my ($directory, $pid) = (File::Temp->newdir, $$);
    my $ready = sub {
        defined(my $child = fork) or die "fork: $!";
        return if $child;
        my $request = join "\r\n", 'POST /a HTTP/1.1', 'Host: test', 'Connection: close', 'Content-Length: 1', '', 'b';
        for (1 .. $count) {
            my $socket = IO::Socket::UNIX->new(Peer => "$directory/sock") or last;
            syswrite $socket, $request;
            TestServer::read_all($socket);
        }
        kill 'TERM', $pid;
        POSIX::_exit(0);
    };
    Plack::Handler::Bontebok->new(max_workers => 0, listen => ["$directory/sock"], server_ready => $ready)->run($app);
    wait;
    return;
}

local $SIG{TERM} = 'IGNORE';
open my $errors, '>&', \*STDERR or die "dup: $!";
for my $kind (sort keys %apps) {
    my $leaked = sub {
        my ($count) = @_;
        open STDERR, '>', '/dev/null' or die "open: $!";
        my $values = Test::LeakTrace::leaked_count(sub { serve($apps{$kind}, $count) });
        open STDERR, '>&', $errors or die "dup: $!";
        return $values;
    };
    $leaked->(2);
    my ($few, $many) = map { $leaked->($_) } 2, 40;
    cmp_ok $many - $few, '<', 10, "$kind: values more after 38 requests more" or diag "$few, then $many";
}

done_testing;
