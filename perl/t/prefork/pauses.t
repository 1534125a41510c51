# Bontebok::Pauses: when the next worker of a number may be started.
use strict;
use warnings;

use Bontebok::Pauses ();
use Test::More;

# Failures in a row.
my $pauses = Bontebok::Pauses->new(1);
is $pauses->over(1), 0, 'no pause at the start';
my @after = map { $pauses->failed(1, 1000); $pauses->over(1) - 1000 } 1 .. 8;
is_deeply \@after, [1, 2, 4, 8, 16, 30, 30, 30], 'each failure doubles the pause, up to a limit';
is $pauses->over(2), 0, 'another number has no pause';
ok $pauses->has_failed(1),  'it has failed';
ok !$pauses->has_failed(2), 'the other one has not';
$pauses->failed(1, 1000) for 1 .. 5000;
is $pauses->over(1), 1030, 'the limit after many failures';

# The end of failures.
$pauses->ready(1);
ok !$pauses->has_failed(1), 'a worker is ready';
$pauses->failed(1, 2000);
is $pauses->over(1), 2001, 'then the first pause is short again';

# HUP.
$pauses->cut_short;
is $pauses->over(1), 0, 'a pause is cut short';
ok $pauses->has_failed(1), 'the failure still counts';
$pauses->failed(1, 3000);
is $pauses->over(1), 3002, 'the next pause is longer';

# A worker that has been ready.
$pauses = Bontebok::Pauses->new(1);
$pauses->ended(1, 5000);
is $pauses->over(1), 5000.1, 'a worker that has ended by itself: not more than ten are started in a second';

# The system has no process.
$pauses->refused(6000);
is $pauses->over($_), 6001, "a fork has failed: number $_ waits" for 1, 2;
$pauses->failed(1, 6000.5);
is $pauses->over(1), 6001.5, 'the later time counts';
$pauses->cut_short;
is $pauses->over(1), 6001, 'HUP does not end the pause after a fork that has failed';

# Without a pause, failures would take all of a CPU.
$pauses = Bontebok::Pauses->new(0);
$pauses->failed(1, 7000);
is $pauses->over(1), 7000.1, '--err-respawn-interval 0: the least pause';
$pauses->refused(8000);
is $pauses->over(2), 8000.1, '--err-respawn-interval 0: the least pause after a fork that has failed';

$pauses = Bontebok::Pauses->new(100);
$pauses->failed(1, 9000);
is $pauses->over(1), 9030, '--err-respawn-interval 100: the limit';

done_testing;
