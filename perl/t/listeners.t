# A host name with several addresses: the server listens on those that this machine has, and once on each.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/lib";

use Bontebok::Listeners ();
use Bontebok::Options   ();
use EnvServer           ();
use File::Temp          ();
use Socket              qw(AF_INET SOCK_STREAM inet_aton pack_sockaddr_in);
use Test::More;

# Opens "name:port", whose addresses are these. Returns how many listeners there are, or the message.
sub opened {
    my @addresses = @_;
    my $listeners;
    TestServer::eventually {
        my $port = EnvServer::port_of(EnvServer::listener('127.0.0.1'));
        no warnings 'redefine';
        local *Bontebok::Listeners::getaddrinfo = sub {
            return ('', map { { family => $_->[0], addr => pack_sockaddr_in($port, inet_aton($_->[1])) } } @addresses);
        };
        $listeners = eval { Bontebok::Listeners->open(Bontebok::Options->new({ listen => "name:$port" })) };
        $listeners || $@ !~ /already in use/;
    };
    return $listeners ? join ' ', map { $_->{name} } $listeners->all : $@ =~ s/[0-9]{4,}/PORT/r;
}

# 192.0.2.1 belongs to no machine (RFC 5737). No machine has sockets of the family 255.
my @loopback = (AF_INET, '127.0.0.1');
is opened([@loopback]), 'name', 'one address';
is opened([@loopback], [@loopback]), 'name', 'the same address twice';
is opened([@loopback], [AF_INET, '127.0.0.2']), 'name name', 'two addresses';
is opened([AF_INET, '192.0.2.1'], [@loopback]), 'name', 'an address that this machine does not have';
is opened([255, '127.0.0.2'], [@loopback]), 'name', 'a family that this machine does not have';
is opened([AF_INET, '192.0.2.1']), "bontebok: --listen name:PORT: Cannot assign requested address\n", 'no address';

# The file of a unix socket. Some file systems give the inode number of a removed file to the next file, whose time is
# another one.
my $directory = File::Temp->newdir;
my $path      = "$directory/sock";
for my $row ([undef, 'removed'], [1, 'left']) {
    my ($time, $expected) = @$row;
    my $listeners = Bontebok::Listeners->open(Bontebok::Options->new({ listen => [$path] }));
    utime $time, $time, $path or die "utime: $!" if $time;
    undef $listeners;
    is -e $path ? 'left' : 'removed', $expected, 'a file with ' . ($time ? 'the same inode' : 'the same time');
}

# Another user, for example nginx's, may connect.
{
    my $mask      = umask 0077;
    my $listeners = Bontebok::Listeners->open(Bontebok::Options->new({ listen => [$path] }));
    is sprintf('%04o', (stat $path)[2] & 07777), '0777', 'the mode of a socket file';
    is umask($mask), 0077, 'the umask stays';
}

# A caller without plackup passes a text or nothing.
socket my $bound, AF_INET, SOCK_STREAM, 0 or die "socket: $!";
for my $row ([{ port => 'abc' } => qr/\Abontebok: --port must be a number from 1 to 65535, not 'abc'\n\z/],
    [{ port => 0 } => qr/\Abontebok: --listen :0: a port is a number/],
    [{ host => 'a', port => 99999 } => qr/\Abontebok: --listen a:99999: a port is a number/],
    [{ listen => 'unix:' } => qr/\Abontebok: --listen 'unix:' is no address/],
    [{ listen_sock => 'x' } => qr/\Abontebok: --listen-sock must be an open socket\n\z/],
    [{ listen_sock => $bound } => qr/\Abontebok: --listen-sock must be a socket that listens\n\z/],
    [{ listen_sock => \*STDIN } => qr/\Abontebok: --listen-sock: [^\n]+\n\z/]) {
    my ($given, $expected) = @$row;
    ok !eval { Bontebok::Listeners->open(Bontebok::Options->new($given)); 1 }, join ' ', 'wrong:', %$given;
    like $@, $expected, join ' ', 'the message:', %$given;
}

done_testing;
