# Memory: the server does not grow over many requests of each kind. Each kind has a server of its own; its memory is
# read after a first part of the requests, and at the end. BONTEBOK_TEST_LONG: 100,000 requests of each kind.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/lib";

use File::Temp ();
use POSIX ();
use Test::More;
use TestServer ();

use constant { WARM_UP => 2000, BATCH => 50 };

my $requests = $ENV{BONTEBOK_TEST_LONG} ? 100_000 : 3000;

# KiB. A leak of 100 bytes a request is 290 KiB in the default run, and malloc keeps free memory for other sizes.
my $limit = $ENV{BONTEBOK_TEST_LONG} ? 1024 : 256;

-r "/proc/$$/smaps_rollup" or plan skip_all => 'no /proc/PID/smaps_rollup';

package Text { use overload '""' => sub { 'text' }, fallback => 1 }
package Tied {
    sub TIESCALAR { return bless [], $_[0] }
    sub FETCH     { return 'tied' }
}
package Object { sub DESTROY { local $@; eval { die "x\n" } } }

package main;

my $file = File::Temp->new;
print {$file} 'x' x 1000;
close $file;

sub responds { my ($code) = @_; return sub { my ($env) = @_; sub { $code->($_[0], $env) } } }
sub opened { my ($mode) = @_; open my $handle, $mode, "$file" or die "open: $!"; return [200, [], $handle] }
sub stream { my ($code) = @_; return responds(sub { $code->($_[0]->([200, []])) }) }
sub tied_text { tie my $text, 'Tied'; return \$text }

my $kept;
my %apps = (
    'an array'      => sub { [200, ['X-A', 'b'], ['a', 'b']] },
    'other values'  => sub { [200, ['X-A', 1, 'X-B', undef], [1.5, undef, bless([], 'Text'), substr "\xfc\x{263a}", 0,
        1]] },
    'tied values'   => sub { [200, ['X-A', ${ tied_text() }], [${ tied_text() }]] },
    'getline'       => sub { [200, [], bless ['a', 'b'], 'Lines'] },
    'a string'      => sub { open my $body, '<', \'abc' or die; [200, [], $body] },
    'a file'        => sub { opened('<') },
    'a file with a layer' => sub { opened('<:crlf') },
    'delayed'       => responds(sub { $_[0]->([200, [], ['a']]) }),
    'a stream'      => stream(sub { $_[0]->write($_) for 'a', 1, bless([], 'Text'); $_[0]->close }),
    'a dropped writer' => stream(sub { $_[0]->write('a') }),
    'a kept writer' => stream(sub { $kept = $_[0]; $kept->write('a'); $kept->close }),
    'a kept responder' => responds(sub { $kept = $_[0]; $kept->([200, [], ['a']]) }),
    'no responder call' => responds(sub { 1 }),
    'two responder calls' => responds(sub { $_[0]->([200, [], ['a']]) for 1, 2 }),
    'a failed responder' => responds(sub { eval { $_[0]->([200, ["\0", 1], ['a']]) }; 1 }),
    'die'           => sub { die "broken\n" },
    'die with an object' => sub { die bless [], 'Text' },
    'die in getline' => sub { [200, [], bless [sub { die "broken\n" }], 'Lines'] },
    'die in a stream' => stream(sub { $_[0]->write('a'); die "broken\n" }),
    'die in a callback' => sub { my @x = sort { die "broken\n" } 1, 2; \@x },
    'a wrong status' => sub { ['x', [], []] },
    'a wrong field' => sub { [200, ['X-A', "a\nb"], []] },
    'a wide field'  => sub { [200, ['X-A', "\x{263a}"], []] },
    'a wide body'   => sub { [200, [], ['a', "\x{263a}"]] },
    'a wrong body'  => sub { [200, [], {}] },
    'no response'   => sub { undef },
    'a short body'  => sub { [200, ['Content-Length', 9], ['a']] },
    'objects in env' => sub { $_[0]{"my.$_"} = bless [], 'Object' for 1 .. 3; $_[0]{self} = [1]; [200, [], ['a']] },
    'a signal'      => sub { $SIG{USR1} = sub { 1 }; kill 'USR1', $$; [200, [], ['a']] },
    'a die between two requests' => sub { $SIG{USR1} = sub { die "x\n" }; $kept = bless [], 'Late'; [200, [], ['a']] },
    'a fork'        => sub { defined(my $pid = fork) or die; POSIX::_exit(0) if !$pid; waitpid $pid, 0; [200, [],
        ['a']] },
);
package Late { sub DESTROY { kill 'USR1', $$ } }
package Lines {
    sub getline { my $part = shift @{ $_[0] }; return ref $part ? $part->() : $part }
    sub close { }    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
}

sub memory {
    my ($pid) = @_;
    open my $rollup, '<', "/proc/$pid/smaps_rollup" or die "open: $!";
    my ($size) = map { /^Private_Dirty:\s+(\d+)/ ? $1 : () } readline $rollup;
    return $size;
}

# Sends requests on kept connections, BATCH of them at once. A new connection follows where the server ends one.
sub request_many {
    my ($server, $count, @requests) = @_;
    my $batch = join '', map { $requests[ $_ % @requests ] } 1 .. BATCH;
    my ($socket, $got, $begin) = ($server->connect, '', 'HTTP/1.1 ');
    while ($count > 0) {
        syswrite $socket, $batch;
        my $answers = 0;
        while ($answers < BATCH) {
            my $size = sysread $socket, $got, 65536, length $got;
            if (!$size) { ($socket, $got) = ($server->connect, ''); last }
            $answers++ while $got =~ /\Q$begin\E/g;
            $got = substr $got, -length($begin) + 1 if length $got >= length $begin;
        }
        $count -= $answers > 0 ? $answers : 1;
    }
    return;
}

sub grows {
    my ($name, $app, @sent) = @_;
    my $server = TestServer->start($app);
    request_many($server, WARM_UP, @sent);
    my $before = memory($server->pid);
    request_many($server, $name =~ /fork/ ? $requests / 10 : $requests, @sent);
    my $growth = memory($server->pid) - $before;
    return cmp_ok($growth, '<', $limit, "$name: KiB more");
}

my $get = "GET /a%20b?c=d HTTP/1.1\r\nHost: test\r\nX-Some: thing\r\nCookie: a\r\nCookie: b\r\n\r\n";
local $SIG{PIPE} = 'IGNORE';
open STDERR, '>', '/dev/null' or die "open: $!";
grows($_, $apps{$_}, $get) for sort keys %apps;

# Input.
my $read = sub { local $/; my $in = readline $_[0]{'psgi.input'}; $kept = $_[0]{'psgi.input'}; [200, [],
    [length $in // '']] };
grows('a small body', $read, "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello");
grows('a chunked body', $read,
    "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
grows('an unread body', $apps{'an array'}, "POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello");
grows('HEAD', $apps{getline}, "HEAD / HTTP/1.1\r\nHost: test\r\n\r\n");
grows('a malformed path', $apps{'an array'}, "GET /%zz HTTP/1.1\r\nHost: test\r\n\r\n");
grows('new field names', $apps{'an array'}, map { "GET / HTTP/1.1\r\nHost: test\r\nX-Name-$_: a\r\n\r\n" } 1 .. 20);

done_testing;
