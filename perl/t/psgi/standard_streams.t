# A server that is started without standard streams (>&-).
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok ();
use Command  ();
use Test::More;

use sigtrap handler => sub { exit 1 }, qw(HUP INT TERM);    # ends the servers, too

my $app = <<'END';
sub {
    print "from the application\n";
    print STDERR "to standard error\n";
    [200, [], [join ' ', map { readlink "/proc/self/fd/$_" } 0 .. 2]];
};
END

plan skip_all => 'needs /proc' unless -e '/proc/self/fd/0';

for my $workers (0, 1) {
    for my $closed ('0<&- 1>&- 2>&-', '1>&-') {
        my $case   = "$workers workers, $closed";
        my @under  = ('/bin/sh', '-c', "exec \"\$@\" $closed", 'sh');
        my $server = Command->start(app => $app, args => ['--max-workers', $workers], under => \@under);
        my $error  = $closed =~ /2/ ? '/dev/null' : $server->directory . '/log';
        like $server->get('/'), qr{\r\n\r\n/dev/null /dev/null \Q$error\E\z}, "$case: /dev/null";
        is $server->stop('TERM'), 0, "$case: the server stops";
        unlike $server->log, qr/error \d|flush/, "$case: without an error";
    }
}
done_testing;
