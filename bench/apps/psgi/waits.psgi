# The application of bench/waits: the path is what a request does.
#
#   /         nothing
#   /sleep/6  makes the file "begun" in BENCH_DIR, and sleeps for 6 s
#   /hang     sleeps, and never responds
#   /spin     computes, and never responds
use strict;
use warnings;

use Time::HiRes qw(sleep time);

my %act = (
    sleep => sub {
        my ($seconds) = @_;
        open my $file, '>', "$ENV{BENCH_DIR}/begun" or die "begun: $!";
        my $end = time + $seconds;
        sleep $end - time while time < $end;    # a signal ends a sleep early
    },
    hang => sub { sleep 1 while 1 },
    spin => sub { 1 while 1 },
);

sub {
    my (undef, $name, $argument) = split m{/}, $_[0]{PATH_INFO};
    $act{$name}->($argument) if $name;
    return [200, ["Content-Type" => "text/plain", "Content-Length" => 14], ["Hello, World!\n"]];
};
