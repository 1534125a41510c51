# SERVER_STARTER_PORT and LISTEN_FDS that the server cannot use: it ends with status 2 and one line.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Command          ();
use IO::Socket::UNIX ();
use Socket           qw(AF_INET AF_UNIX INADDR_LOOPBACK SOCK_DGRAM SOCK_STREAM pack_sockaddr_in);
use Test::More;

my $directory = File::Temp->newdir;
my $listener  = IO::Socket::UNIX->new(Local => "$directory/a", Listen => 8) or die "listen: $!";
my $client    = IO::Socket::UNIX->new(Peer => "$directory/a") or die "connect: $!";
open my $file, '+>', "$directory/file" or die "file: $!";
socket my $unbound, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!";
socket my $udp,     AF_INET, SOCK_DGRAM,  0 or die "socket: $!";
bind $udp, pack_sockaddr_in(0, INADDR_LOOPBACK) or die "bind: $!";

my $form      = 'SERVER_STARTER_PORT must be ADDRESS=DESCRIPTOR;\.\.\., not';
my $quiet     = 'must be a socket that listens';
my $closed    = 'Bad file descriptor';
my $no_socket = 'Socket operation on non-socket';

# The variable and its text, what is passed as the descriptors 3, 4 and so on, and the message. Perl itself may have
# opened the descriptor 4.
my ($starter, $systemd) = qw(SERVER_STARTER_PORT LISTEN_FDS);
my @rows = (
    [$starter, 'x',               [$listener],          qr/$form 'x'/],
    [$starter, 'x=',              [$listener],          qr/$form 'x='/],
    [$starter, '=3',              [$listener],          qr/$form '=3'/],
    [$starter, 'x=3x',            [$listener],          qr/$form 'x=3x'/],
    [$starter, "x=3;y\n=z",       [$listener],          qr/$form 'x=3;y\\x0a=z'/],
    [$starter, 'x=3;y=999999999', [$listener],          qr/SERVER_STARTER_PORT y: $closed/],
    [$starter, "x\ny=3",          [$file],              qr/SERVER_STARTER_PORT x\\x0ay: $no_socket/],
    [$starter, 'x=3',             [$client],            qr/SERVER_STARTER_PORT x $quiet/],
    [$starter, 'x=4;y=3',         [$unbound, $listener], qr/SERVER_STARTER_PORT y $quiet/],
    [$starter, 'x=3',             [$udp],               qr/SERVER_STARTER_PORT x $quiet/],
    [$systemd, 'x',               [$listener],          qr/LISTEN_FDS must be a number, not 'x'/],
    [$systemd, "1\n",             [$listener],          qr/LISTEN_FDS must be a number, not '1\\x0a'/],
    [$systemd, '999999999',       [$listener],          qr/LISTEN_FDS must be a number, not '999999999'/],
    [$systemd, '2',               [$listener],          qr/LISTEN_FDS 4: (?:$closed|$no_socket)/],
    [$systemd, '1',               [$file],              qr/LISTEN_FDS 3: $no_socket/],
    [$systemd, '2',               [$listener, $udp],    qr/LISTEN_FDS 4 $quiet/],
    [$systemd, '65',              [($listener) x 65],   qr/there are more than 64 addresses to listen on/],
);
for my $row (@rows) {
    my ($variable, $text, $passed, $message) = @$row;
    my %env = ($variable => $text, $variable eq $systemd ? (LISTEN_PID => sub { $$ }) : ());
    my %options = (env => \%env, passes => $passed, $^O eq 'linux' ? (limit => '-v 2000000') : ());    # kB of memory
    my ($status, $output) = Command->run(\%options, '--listen', "$directory/own");
    my $name = "$variable=" . ($text =~ tr/\n/?/r);
    like $output, qr/\Abontebok: $message\n\z/, $name;
    is $status, 2, "$name: the exit status";
}

# A server with workers finds the mistake before it starts them.
my %env = (LISTEN_FDS => 1, LISTEN_PID => sub { $$ });
is_deeply [Command->run({ env => \%env, passes => [$file] }, '--max-workers', 2)],
  [2, "bontebok: LISTEN_FDS 3: $no_socket\n"], 'with workers';

is_deeply [sort map { s{.*/}{}r } glob "$directory/*"], [qw(a file)], 'the files are as before';
done_testing;
