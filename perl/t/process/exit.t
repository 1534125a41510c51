# exit() in the application: the client gets a 500 or the response that is complete, other connections are finished, END
# blocks run, and the process has the status of exit().
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Body ();
use File::Temp ();
use Test::More;
use TestServer ();

my $test = $$;
my $ends;    # what the END block does

END {
    if ($$ != $test) {
        print STDERR "END $?\n";
        $ends->() if $ends;
    }
}

package Ender { sub DESTROY { exit 3 } }

package Text { use overload '""' => sub { exit 3 }, 'bool' => sub { exit 3 }, fallback => 1 }

package Tied {
    sub TIESCALAR { return bless [], $_[0] }
    sub FETCH     { exit 3 }
}

package main;

sub responds { my ($code) = @_; return sub { my ($env) = @_; sub { $code->($_[0], $env) } } }
sub exits_in_sort { my @sorted = sort { exit 3 } 1, 2; return @sorted }
sub with_end { my ($code) = @_; return sub { my $body = Body->new('x', 'a'); $body->{on_close} = $code; [200, [],
    $body] } }

my $failed  = qr{\AHTTP/1\.1 500 Internal Server Error\r\n.*\r\n\r\n500 Internal Server Error\n\z}s;
my $whole   = qr{\AHTTP/1\.1 200 OK\r\n.*\r\n\r\na\z}s;
my $chunks  = qr{\AHTTP/1\.1 200 OK\r\n.*\r\n\r\n1\r\na\r\n0\r\n\r\n\z}s;
my $partial = qr{\AHTTP/1\.1 200 OK\r\n(?:(?!0\r\n\r\n\z).)*\z}s;
my @rows    = (
    ['the application',  sub { exit 3 },                                          $failed],
    ['eval',             sub { eval { exit 3 }; [200, [], ['a']] },               $failed],
    ['a string eval',    sub { eval q{my $x = 1; exit 3}; [200, [], ['a']] },     $failed],
    ['nested evals',     sub { eval { eval q{eval { exit 3 }} } },                $failed],
    ['a sort block',     sub { [200, [], [exits_in_sort()]] },                    $failed],
    ['a substitution',   sub { (my $x = 'a') =~ s/a/exit 3/e; $x },               $failed],
    ['a regexp',         sub { 'a' =~ /a(?{ exit 3 })/ },                         $failed],
    ['a tied value',     sub { tie my $x, 'Tied'; my $y = $x; $y },               $failed],
    ['a value that is sent', sub { tie my $x, 'Tied'; [200, ['X-A', $x], []] },   $failed],
    ['an object that is sent', sub { [200, [], [bless [], 'Text']] },             $failed],
    ['require',          sub { unshift @INC, sub { exit 3 }; require Some::Missing }, $failed],
    ['local values',     sub { local ($_, $/, $,, $\) = ('a') x 4; local %ENV; exit 3 }, $failed],
    ['__DIE__',          sub { local $SIG{__DIE__} = sub { exit 3 }; die 'a' },   $failed],
    ['__WARN__',         sub { local $SIG{__WARN__} = sub { exit 3 }; warn 'a' }, $failed],
    ['a signal handler', sub { local $SIG{USR1} = sub { exit 3 }; kill 'USR1', $$; [200, [], ['a']] }, $failed],
    ['an alarm',         sub { local $SIG{ALRM} = sub { exit 3 }; alarm 1; select undef, undef, undef, 20; 0 },
        $failed],
    ['a DESTROY',        sub { my $object = bless [], 'Ender'; undef $object; [200, [], ['a']] }, $failed],
    ['the first getline', sub { [200, [], Body->new('x', sub { exit 3 })] },      $failed],
    ['a later getline',  sub { [200, [], Body->new('x', 'a', sub { exit 3 })] },  $partial],
    ['close',            with_end(sub { exit 3 }),                                $chunks],
    ['close after a die', sub { my $body = Body->new('x', sub { die "a\n" }); $body->{on_close} = sub { exit 3 };
        [200, [], $body] }, $failed],
    ['close after exit', sub { my $body = Body->new('x', sub { exit 3 }); $body->{on_close} = sub { exit 4 }; [200, [],
        $body] },
        $failed],
    ['the code before the responder', responds(sub { exit 3 }),                   $failed],
    ['the code after the responder', responds(sub { $_[0]->([200, [], ['a']]); exit 3 }), $whole],
    ['a stream',         responds(sub { my $writer = $_[0]->([200, []]); $writer->write('a'); exit 3 }), $partial],
    ['the code after close', responds(sub { my $w = $_[0]->([200, []]); $w->write('a'); $w->close; exit 3 }), $chunks],
    ['a DESTROY of the env', sub { $_[0]{'my.object'} = bless [], 'Ender'; [200, [], ['a']] }, $whole],
    ['a DESTROY of the response', sub { [200, [], ['a'], bless [], 'Ender'] },    $whole],
);

for my $row (@rows) {
    my ($name, $app, $want) = @$row;
    my $server = TestServer->start($app);
    like $server->get('/label'), $want, "exit in $name";
    is $server->stop(undef), 3 << 8, "exit in $name: the status";
    like $server->log, qr/^END 3\n\z/m, "exit in $name: END blocks";
    like $server->log, qr{: the application has called exit\(\), and the process ends$}m, "exit in $name: the log";
}

# Connections that wait are served, and requests that come before the end, also if they exit.
my $directory = File::Temp->newdir;
my $server = TestServer->start(sub {
    my ($env) = @_;
    my $path = $env->{PATH_INFO};
    return [200, [], ["plain $$"]] if $path eq '/plain';
    select undef, undef, undef, 0.01 until -e "$directory/go";
    exit substr $path, 1;
});
my @clients = map { send_request($server, $_) } '/5', '/6', '/plain', '/7', '/plain';
open my $go, '>', "$directory/go" or die "open: $!";
my @responses = map { TestServer::read_all($_) } @clients;
like $responses[$_], $failed, "several exits: response $_" for 0, 1, 3;
like $responses[$_], qr/\r\n\r\nplain ${\$server->pid}\z/, "several exits: response $_" for 2, 4;
is $server->stop(undef) >> 8, 5, 'several exits: the first status';
like $server->log, qr/^END 5\n\z/m, 'several exits: END blocks run once';
is scalar(() = $server->log =~ /has called exit/g), 3, 'several exits: each is in the log';
ok !-e $server->path, 'several exits: the socket file is gone';

sub send_request {
    my ($server, $path) = @_;
    my $client = $server->connect;
    syswrite $client, "GET $path HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    return $client;
}

# STDERR is a handle that calls exit().
package ExitHandle {
    sub TIEHANDLE { return bless [], $_[0] }
    sub PRINT     { exit 4 }
}
my $tied = TestServer->start(sub { tie *STDERR, 'ExitHandle'; exit 3 });
like $tied->get('/'), $failed, 'exit in the log';
is $tied->stop(undef), 4 << 8, 'exit in the log: the END block writes, too';

# The status of exit() as Perl knows it.
for my $row ([0, 0], [1, 1], [255, 255], [256, 0], [-1, 255]) {
    my ($given, $want) = @$row;
    my $exits = TestServer->start(sub { $? = 9; exit $given });
    like $exits->get('/'), $failed, "exit $given";
    is $exits->stop(undef), $want << 8, "exit $given: the status";
}

# exit() and die in an END block, and exit() in a handler between two requests.
$ends = sub { exit 8 };
my $in_end = TestServer->start(sub { exit 3 });
like $in_end->get('/'), $failed, 'exit in an END block';
is $in_end->stop(undef), 8 << 8, 'exit in an END block: the status';
undef $ends;
my $idle = TestServer->start(sub { $SIG{USR1} = sub { exit 3 }; [200, [], ['a']] });
like $idle->get('/'), $whole, 'before a signal';
is $idle->stop('USR1'), 3 << 8, 'exit in a handler between two requests';
like $idle->log, qr/error \d+ - - outside of a request: the application has called exit.*\nEND 3\n\z/, 'the log of it';

done_testing;
