# A host name with several addresses: the server listens on those that this machine has, and once on each.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/lib";

use Bontebok::Listeners ();
use Bontebok::Options   ();
use EnvServer           ();
use File::Temp          ();
use Socket              qw(AF_INET AF_UNIX SOCK_STREAM inet_aton pack_sockaddr_in pack_sockaddr_un);
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

# Texts that servers read in different ways are refused. After unix:, the forms are those of the Ruby server.
my %reads = (
    '5000'             => 'tcp||5000',
    ':5000'            => 'tcp||5000',
    '*:5000'           => 'tcp||5000',
    'localhost:5000'   => 'tcp|localhost|5000',
    '[::1]:5000'       => 'tcp|::1|5000',
    'tcp://[::1]:5000' => 'tcp|::1|5000',
    '/run/a'           => 'path|/run/a',
    'tmp/a'            => 'path|tmp/a',
    '/a%20b?c#d'       => 'path|/a%20b?c#d',
    '@a'               => 'path|@a',
    'unix:/run/a'      => 'path|/run/a',
    'unix:///run/a'    => 'path|/run/a',
    'unix:tmp/a'       => 'path|tmp/a',
    'unix:~/a'         => "path|$directory/a",
    'unix:@a'          => 'name|a',
    'unix://@a'        => 'name|a',
    'unix:~nobody-of-this-name/a' => '--listen unix:~nobody-of-this-name/a: there is no such user',
    'unix:@'           => '--listen unix:@: a path or @name must be after unix:',
    'unix://tmp/a' =>
      '--listen unix://tmp/a: write unix:///tmp/a (as nginx reads it) or unix:tmp/a (as puma reads it)',
    (map { $_ => "--listen $_: puma reads %20, ? and # in a unix path otherwise than nginx: write it without unix:" }
          'unix:/a%20b', 'unix:/a?umask=0111', 'unix:/a#b'),
    (map { $_ => "--listen '$_' is no address such as 127.0.0.1:5000, [::1]:5000 or /run/app.sock" }
          '', ':', '::1', '[::1]', 'localhost:', 'unix:', 'http://a:5000', 'ssl:a', 'tcp://a'),
);
{
    local $ENV{HOME} = "$directory";
    for my $text (sort keys %reads) {
        my $read = eval { join '|', Bontebok::Address::parse($text) } // $@ =~ s/\Abontebok: (.*)\n\z/$1/sr;
        is $read, $reads{$text}, "--listen '$text'";
    }
}

# An abstract name has no file.
{
    my $name = "bontebok-test-$$";
    my $listeners = Bontebok::Listeners->open(Bontebok::Options->new({ listen => ["unix:\@$name"] }));
    is join(' ', map { "$_->{name} $_->{port}" } $listeners->all), "localhost \@$name", 'an abstract name';
    socket my $client, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!";
    ok connect($client, pack_sockaddr_un("\0$name")), 'a client finds it';
    my ($listener) = $listeners->all;
    my $adopted = Bontebok::Listeners->open(Bontebok::Options->new({ listen_sock => $listener->{socket} }));
    is +($adopted->all)[0]{port}, "\@$name", 'the abstract name of an adopted socket';
}

# A link counts as what it leads to.
{
    my ($link, $target) = ("$directory/link", "$directory/target");
    symlink 'target', $link or die "symlink: $!";
    my $open = sub { return eval { Bontebok::Listeners->open(Bontebok::Options->new({ listen => [$_[0]] })) } };
    for my $path ($link, "$link/a", "$link/a/b") {
        ok !$open->($path), 'a link that leads nowhere';
        is $@, "bontebok: --listen $path: $link is a link to target, which does not exist\n", 'the message';
    }
    my $server = $open->($target);
    ok !$open->($link), 'a link to the socket of a server';
    is $@, "bontebok: --listen $link: another server listens there\n", 'the message';
    undef $server;
    socket my $dead, AF_UNIX, SOCK_STREAM, 0 or die "socket: $!";
    bind $dead, pack_sockaddr_un($target) or die "bind: $!";
    ok $open->($link) && -S $target, 'a link to the socket of a dead server is replaced';
    unlink $target;
}

# A caller without plackup passes a text or nothing.
socket my $bound, AF_INET, SOCK_STREAM, 0 or die "socket: $!";
for my $row ([{ port => 'abc' } => qr/\Abontebok: --port must be a number from 1 to 65535, not 'abc'\n\z/],
    [{ port => 0 } => qr/\Abontebok: --listen :0: a port is a number/],
    [{ host => 'a', port => 99999 } => qr/\Abontebok: --listen a:99999: a port is a number/],
    [{ host => '/run/a', port => 1 } => qr{\Abontebok: --host must be a name or an IP address, not '/run/a': },],
    [{ listen => "$directory/" . 'x' x 107 } => qr/: a path has at most 107 bytes, and this one has 1\d\d\n\z/],
    [{ listen => 'unix:' } => qr/\Abontebok: --listen 'unix:' is no address/],
    [{ listen_sock => 'x' } => qr/\Abontebok: --listen-sock must be an open socket\n\z/],
    [{ listen_sock => $bound } => qr/\Abontebok: --listen-sock must be a socket that listens\n\z/],
    [{ listen_sock => \*STDIN } => qr/\Abontebok: --listen-sock: [^\n]+\n\z/]) {
    my ($given, $expected) = @$row;
    ok !eval { Bontebok::Listeners->open(Bontebok::Options->new($given)); 1 }, join ' ', 'wrong:', %$given;
    like $@, $expected, join ' ', 'the message:', %$given;
}

done_testing;
