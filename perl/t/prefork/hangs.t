# Workers that do not serve any more: a request hangs, the process is stopped, or it has no descriptors.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use PreforkServer;
use Test::More;

# ---- these take 5 s ----

my $slow = PreforkServer->start(
    workers => 3,
    limit   => '-n 64',
    load    => <<'LOAD',
        our @files;
        $SIG{USR2} = sub {
            while (open my $file, '<', '/dev/null') { push @files, $file }
            print STDERR "full\n";
        };
LOAD
);
my ($stopped, $eater) = $slow->serving(3);
kill 'STOP', $stopped;

# The application takes all descriptors, also those that the server closes meanwhile.
for my $times (1 .. 3) {
    kill 'USR2', $eater;
    $slow->logs(qr/(?:^full\n){$times}/m);
}

# While one worker is busy, the eater sees the next request, and cannot accept it. Returns both responses.
sub ask_two {
    my ($busy) = $slow->occupy('/');
    my $next = $slow->send_get('/');
    $busy->[1]->let_go;
    return map { PreforkServer::body_of($_) } $busy->[0], $next;
}
my @bodies;
TestServer::eventually { push @bodies, ask_two(); $slow->log =~ /Too many open files/ };

# ---- a request hangs ----

my $server = PreforkServer->start(
    args   => ['--request-timeout', '1s', '--graceful-timeout', '200ms'],
    routes => q{'/close' => sub { POSIX::close($_) for 0 .. 1023; [200, [], []] },},
);
my @hung   = $server->occupy('/', '/');
my $next   = $server->send_get('/');
my @pids   = map { $_->[1]->pid } @hung;
like TestServer::read_all($_->[0]), qr{\AHTTP/1\.1 504 }, '--request-timeout: 504' for @hung;
my $body = PreforkServer::body_of($next);
like $body, qr/\A\d+\z/, '--request-timeout: all workers hang, and the next request is answered';
is scalar(grep { $_ eq $body } @pids), 0, '--request-timeout: by a new worker';
ok $server->lose(\@pids), '--request-timeout: the hanging workers end';
my $text = 'GET /wait/ has taken longer than --request-timeout';
like $server->log, qr{ - - $text: worker [12] \(process $_\) is replaced$}m, '--request-timeout: the log' for @pids;
is scalar(() = $server->log =~ /\n/g), 2, '--request-timeout: no more lines' or diag $server->log;

# ---- the application closes all descriptors ----

@pids = $server->serving(2);
my $client = $server->send_get('/close');
is TestServer::read_all($client), '', 'all descriptors are closed: there is no response';
my %serving = map { $server->body('/') => 1 } 1 .. 5;
is join(' ', keys %serving), (grep { $serving{$_} } @pids)[0], 'all descriptors are closed: the other worker serves';

# ---- now the slow ones ----

ok $server->lose([grep { !$serving{$_} } @pids]), 'all descriptors are closed: the worker is replaced';
is $server->stop, 0, 'all descriptors are closed: the exit status';

ok $slow->lose([$stopped, $eater], sub { push @bodies, ask_two() }), 'both are replaced';
is_deeply [grep { !/\A\d+\z/ } @bodies], [], 'meanwhile, the other one serves';
like $slow->log, qr/ worker [123] \(process $stopped\) stays stopped and is killed$/m, 'a stopped worker is killed';
like $slow->log, qr/ warn $eater - - wants to be replaced: no connection can be accepted: Too many open files$/m,
  'a worker without descriptors asks for its replacement';
is scalar(my @new = $slow->serving(3)), 3, 'there are new workers';
is $slow->stop, 0, 'the exit status';

done_testing;
