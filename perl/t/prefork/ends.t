# The end of a worker: END blocks, --child-exit and DESTROY run, also if signals come late.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use PreforkServer;
use Test::More;

my %options = (
    workers => 1,
    args    => ['--child-exit', 'sub { print STDERR "child_exit $$ @{[ref $_[0], ref $_[1], held()]}\n" }'],
    load    => <<'LOAD',
        package Ender { sub DESTROY { print STDERR "DESTROY $$\n" } }
        our $object = bless [], 'Ender';
        sub main::held {    # commands inherit what is held
            my $set = POSIX::SigSet->new;
            POSIX::sigprocmask(POSIX::SIG_BLOCK(), POSIX::SigSet->new, $set);
            return $set->ismember(POSIX::SIGTERM());
        }
        my $master = $$;
        END {
            print STDERR "END $$ $?\n";
            wait_at('gate') if $$ != $master && -e 'waits';
        }
LOAD
    routes => <<'ROUTES',
        '/exit' => sub { exit 3 },
        '/harakiri' => sub { $_[0]{'psgix.harakiri.commit'} = 1; [200, [], []] },
ROUTES
);

# The lines of the log about this process, without their times.
sub lines {
    my ($server, $pid) = @_;
    return [map { s/^\S+Z (?=error)//r } grep { /\b$pid\b/ } split /\n/, $server->log];
}

my $server = PreforkServer->start(%options);

sub is_end {
    my ($pid, $name) = @_;
    ok $server->lose([$pid]), "$name: the worker ends";
    is_deeply lines($server, $pid), ["child_exit $pid Plack::Handler::Bontebok CODE 0", "END $pid 0", "DESTROY $pid"],
      "$name: what runs at its end";
    return;
}

my ($pid) = $server->serving(1);
kill 'HUP', $server->pid;
is_end($pid, 'HUP');
($pid) = $server->serving(1);
kill 'TERM', $pid;
is_end($pid, 'TERM to the worker');
($pid) = $server->serving(1);
$server->get('/harakiri');
is_end($pid, 'harakiri');

($pid) = $server->serving(1);
$server->get('/exit');
ok $server->logs(qr/\(process $pid\) has ended/), 'exit: the worker ends';
my $master = $server->pid;
is_deeply [grep { !/called exit/ } @{ lines($server, $pid) }],
  ["END $pid 3", "DESTROY $pid", "error $master - - worker 1 (process $pid) has ended with exit status 3"],
  'exit: what runs at the end';

# Signals that come while END runs.
my %late;
open my $file, '>', $server->directory . '/waits' or die "waits: $!";
for my $row (['/harakiri', 0], ['/exit', 3]) {
    my ($path, $status) = @$row;
    ($pid) = $server->serving(1);
    $server->get($path);
    my $ends = $server->gate->next;
    is $ends->pid, $pid, "$path: END runs";
    kill $_, $pid for qw(TERM HUP INT QUIT USR1);
    $ends->let_go;
    $server->lose([$pid]);
    $late{$pid} = [$path, $status ? "worker 1 (process $pid) has ended with exit status $status" : ()];
}
unlink $server->directory . '/waits';

($pid) = $server->serving(1);
is $server->stop, 0, 'TERM: the exit status';
is_deeply lines($server, $pid), ["child_exit $pid Plack::Handler::Bontebok CODE 0", "END $pid 0", "DESTROY $pid"],
  'TERM: what runs at the end';
like $server->log, qr/^END $master 0\nDESTROY $master\n\z/m, 'TERM: the master ends last';
for my $pid (sort keys %late) {
    my ($path, @wanted) = @{ $late{$pid} };
    is_deeply [map { /(worker.*)/ } @{ lines($server, $pid) }], \@wanted, "$path: late signals change no exit status";
    is scalar(grep { /^DESTROY/ } @{ lines($server, $pid) }), 1, "$path: DESTROY runs after late signals";
}

# The master is killed.
$server = PreforkServer->start(%options);
($pid) = $server->serving(1);
$server->stop('KILL');
TestServer::eventually { $server->is_gone };
is_deeply lines($server, $pid), ["child_exit $pid Plack::Handler::Bontebok CODE 0", "END $pid 0", "DESTROY $pid"],
  'the master is killed: what runs at the end';

done_testing;
