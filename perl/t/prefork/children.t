# Bontebok::Children: when workers are started, told to leave, and killed.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use FakeChildren ();
use Test::More;

# ---- one worker of each number ----

my $workers = FakeChildren->new;
is $workers->fill, '10 20', 'the start';
is $workers->fill, '', 'no more are started';
$workers->say(10 => 'r');
$workers->say(20 => 'r');
is $workers->ready, 1, 'ready is called once';
$workers->pass(1);
$workers->end(10 => 9);
is $workers->log, 'worker 1 (process 10) has ended by signal 9', 'a worker ends: the log';
is $workers->fill, '11', 'it is replaced at once';
$workers->say(11 => 'r');
$workers->end(11 => 3 << 8);
is $workers->log, 'worker 1 (process 11) has ended with exit status 3', 'it ends as soon as it is ready: the log';
is $workers->fill, '', 'the next one is not started at once';
$workers->pass(0.2);
is $workers->fill, '12', 'but a little later';
ok !$workers->children->has_failed, 'the server has not failed';
$workers->say(12 => 'r');

# A worker that asks for its replacement serves until the next one is ready.
$workers->say(20 => 'l');
is $workers->fill, '21', 'a worker asks for its replacement';
is $workers->orders, '', 'it goes on';
$workers->say(21 => 'r');
is $workers->orders, '20L', 'it is told to leave when the next one is ready';
$workers->end(20 => 0);
is $workers->log, '', 'its end is not in the log';
$workers->say(21 => 'd');
is $workers->fill, '22', 'a worker without descriptors is replaced';
$workers->say(22 => 'r');
is $workers->orders, '21L', 'it is told to leave';
$workers->end(21 => 9);
is $workers->log, 'worker 2 (process 21) has ended by signal 9', 'it is killed meanwhile: the log';

# A request hangs.
$workers->say(12 => 's');
is $workers->log, 'a request has taken longer than --request-timeout: worker 1 (process 12) is replaced', 'the log';
is $workers->fill, '13', 'a request hangs: the replacement is started at once';
is $workers->orders . $workers->kills, '', 'a request hangs: the worker passes its other connections on';
$workers->say(12 => 'e');
is $workers->kills, 'KILL 12', 'a request hangs: when it has no other connection, it is killed';
$workers->end(12 => 9);
is $workers->log, '', 'its end is not in the log again';
$workers->say(13 => 'r', 22 => 's');
$workers->log;
$workers->pass(1);
$workers->children->kill_late;
is $workers->log, 'worker 2 (process 22) has a request that hangs and is killed', 'it does not pass them on: the log';
is $workers->kills, 'KILL 22', 'it is killed after a second';

# The channel is closed, but the process goes on.
$workers->say(13 => undef);
is $workers->fill, '14 23', 'a worker has closed its descriptors: it is replaced';
$workers->pass(30);
$workers->children->kill_late;
is $workers->kills, 'KILL 13', 'it is killed after --graceful-timeout';

# ---- how many ----

$workers = FakeChildren->new;
$workers->fill;
$workers->children->outdate_all;
is $workers->fill, '', 'HUP while the first workers start: they are not replaced yet';
$workers->say(10 => 'r');
is $workers->fill, '11', 'when one is ready, it is replaced';
is $workers->orders . $workers->kills, '', 'it serves until then';

$workers = FakeChildren->serving;
for (1 .. 3) {
    $workers->children->outdate_all;
    $workers->children->fill;
}
is $workers->pids, '10 20 11 21', 'HUP many times: a worker that starts is not replaced';
$workers->say(11 => 'r', 21 => 'r');
is $workers->orders, '10L 20L', 'the former ones leave';
$workers->children->outdate_all;
is $workers->fill, '', 'while they leave, there are two for each number';
$workers->end(20 => 0);
is $workers->fill, '12', 'when one has left, the next one is started';
$workers->say(12 => 'r');
is $workers->fill, '', 'four processes again';
$workers->say(12 => 's');
is $workers->fill, '13', 'one more if a number has none that serves';
$workers->say(21 => 's');
is $workers->fill, '', 'but not two more';
is scalar(my @all = $workers->children->all), 5, 'so there are five at most';

# ---- failures ----

$workers = FakeChildren->new(err_respawn_interval => 2);
$workers->children->fill;
$workers->end(10 => 1 << 8);
is $workers->log, 'worker 1 (process 10) has ended before it was ready, with exit status 1', 'a failure: the log';
ok !$workers->children->has_failed, 'the other one may become ready';
is $workers->fill, '', 'the next one is not started at once';
$workers->end(20 => 0);
is $workers->log, 'worker 2 (process 20) has ended before it was ready, with exit status 0', 'a failure with status 0';
ok $workers->children->has_failed, 'all have failed';

$workers = FakeChildren->serving(err_respawn_interval => 2);
$workers->end(10 => 9);
$workers->pass(1);
$workers->children->fill;
$workers->end(11 => 9);
is $workers->fill, '', 'a failure later';
$workers->pass(2);
is $workers->fill, '12', 'the next one is started after --err-respawn-interval';
$workers->end(12 => 9);
$workers->end(20 => 9);
is $workers->fill, '21', 'another number does not wait';
$workers->end(21 => 9);
ok !$workers->children->has_failed, 'the server goes on, because a worker has been ready';
$workers->pass(1);
$workers->children->outdate_all;
is $workers->fill, '13 22', 'HUP ends the pause';

# The system gives no process.
$workers = FakeChildren->new(err_respawn_interval => 2);
$workers->refuse(11);
is $workers->fill, '', 'no process';
like $workers->log, qr/\Acannot start worker 1: \S[^:]+\z/, 'the log says it once';
$workers->refuse(0);
is $workers->fill, '', 'all wait';
$workers->pass(2);
is $workers->fill, '10 20', 'the next attempt';

$workers = FakeChildren->new(spawn_interval => 3);
is $workers->fill, '10', '--spawn-interval: the first one';
$workers->pass(2);
is $workers->fill, '', '--spawn-interval: the next one waits';
$workers->pass(1);
is $workers->fill, '20', '--spawn-interval: the next one';

done_testing;
