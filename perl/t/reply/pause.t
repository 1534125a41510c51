# The application works on after its response. The client gets the whole response meanwhile.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Body ();
use Test::More;
use TestServer ();

use constant SIZE => 20_000_000;

# The application waits until the test closes this pipe. Each server has its own pipe.
my ($end, $go_on);
sub work { readline $end; return }

sub slow_to_close { my $body = Body->new('x', 'x' x SIZE); $body->{on_close} = \&work; return $body }

sub write_and_work {
    my ($writer) = @_;
    $writer->write('x' x SIZE);
    $writer->close;
    return work();
}

my %apps = (
    'a writer'            => sub { sub { write_and_work($_[0]->([200, []])) } },
    'a responder'         => sub { sub { $_[0]->([200, [], ['x' x SIZE]]); work() } },
    'the close of a body' => sub { [200, [], slow_to_close()] },
);

# Reads until SIZE times "x" has come. Returns the number of these bytes.
sub read_body {
    my ($socket) = @_;
    my $count = 0;
    while ($count < SIZE && sysread $socket, my $bytes, 1_000_000) { $count += $bytes =~ tr/x// }
    return $count;
}

for my $name (sort keys %apps) {
    pipe $end, $go_on or die "pipe: $!";
    my $server = TestServer->start(sub { close $go_on; $apps{$name}->() });
    close $end;
    my $socket = $server->connect;
    syswrite $socket, "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
    is read_body($socket), SIZE, "$name: the client has the response";
    close $go_on;
    is $server->stop, 0, "$name: the exit status";
    unlike $server->log, qr/ (?:error|warn) /, "$name: the log";
}

done_testing;
