# --listen, --host, --port, --socket and --backlog of plackup -s Bontebok. If the server cannot listen on an address, it
# ends with status 2 and one line.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Command          ();
use EnvServer        ();
use IO::Socket::UNIX ();
use Test::More;

my $directory = File::Temp->newdir;
my $app       = 'sub { [200, [], [join " ", @{ $_[0] }{qw(SERVER_NAME SERVER_PORT)}]] }';

sub free_port { return EnvServer::port_of(EnvServer::listener($_[0]) // return) }

sub tcp_get {
    my ($host, $port) = @_;
    my $socket = EnvServer::connect_to($host, $port) or return 'no connection';
    syswrite $socket, EnvServer::http('GET / HTTP/1.1');
    return TestServer::read_all($socket) =~ /\r\n\r\n(.*)\z/s ? $1 : 'no response';
}

# Connects to a unix socket until its queue is full. Returns the connections.
sub fill {
    my ($path) = @_;
    my @clients;
    while (@clients < 100) {
        socket(my $client, Socket::AF_UNIX, Socket::SOCK_STREAM, 0) or die "socket: $!";
        $client->blocking(0);
        connect($client, Socket::pack_sockaddr_un($path)) or last;
        push @clients, $client;
    }
    return @clients;
}

# ---- mistakes ----

my $taken_path = "$directory/taken";
my $taken      = IO::Socket::UNIX->new(Local => $taken_path, Listen => 100) or die "listen: $!";
my $taken_tcp  = EnvServer::listener('127.0.0.1') or die "listen: $!";
my $taken_port = EnvServer::port_of($taken_tcp);
open my $file, '>', "$directory/file" or die "file: $!";
close $file;
mkdir "$directory/dir" or die "mkdir: $!";
symlink $taken_path, "$directory/link" or die "symlink: $!";
my $long  = "$directory/" . 'x' x (108 - length "$directory/");
my $range = 'a port is a number from 1 to 65535';
my $form  = 'is no address such as 127.0.0.1:5000, [::1]:5000 or /run/app.sock';

# Arguments, and the message.
my @wrong = (
    [['--listen', ':0']                     => "--listen :0: $range"],
    [['--listen', ':70000']                 => "--listen :70000: $range"],
    [['--listen', '99999999999999999999']   => "--listen 99999999999999999999: $range"],
    [['--listen', '127.0.0.1:08']           => "--listen 127.0.0.1:08: $range"],
    [['--port', '70000']                    => "--listen :70000: $range"],
    [['--listen', '[::1]:0']                => "--listen [::1]:0: $range"],
    [['--listen', '']                       => "--listen '' $form"],
    [['--listen', ':']                      => "--listen ':' $form"],
    [['--listen', 'localhost:']             => "--listen 'localhost:' $form"],
    [['--listen', '::1:5000']               => "--listen '::1:5000' $form"],
    [['--listen', '[::1]']                  => "--listen '[::1]' $form"],
    [['--listen', 'unix:']                  => "--listen 'unix:' $form"],
    [['--listen', "$directory/a\nb"]        => "--listen $directory/a?b: a path has no control characters"],
    [['--listen', 'a b:5000']               => '--listen a b:5000: Name or service not known'],
    [['--listen', "127.0.0.1:$taken_port"]  => "--listen 127.0.0.1:$taken_port: Address already in use"],
    [['--host', '127.0.0.1', '--port', $taken_port] => "--listen 127.0.0.1:$taken_port: Address already in use"],
    [['--listen', $taken_path]              => "--listen $taken_path: another server listens there"],
    [['--socket', $taken_path]              => "--listen $taken_path: another server listens there"],
    [['-o', $taken_path] =>
          "--host must be a name or an IP address, not '$taken_path': --listen takes a path"],
    [['--listen', "unix:$taken_path"]       => "--listen $taken_path: another server listens there"],
    [['--listen', "$directory/file"]        => "--listen $directory/file: the file exists and is no socket"],
    [['--listen', "$directory/dir"]         => "--listen $directory/dir: the file exists and is no socket"],
    [['--listen', "$directory/link"]        => "--listen $directory/link: another server listens there"],
    [['--socket', "$directory/a/b"]         => "--listen $directory/a/b: No such file or directory"],
    [['--socket', "$directory/file/b"]      => "--listen $directory/file/b: Not a directory"],
    [['--listen', $long]                    => "--listen $long: a path has at most 107 bytes, and this one has 108"],
    [[map { ('--listen', "$directory/n$_") } 1 .. 65] => 'there are more than 64 addresses to listen on'],
    [['--listen', "$directory/first", '--listen', $taken_path] => "--listen $taken_path: another server listens there"],
);
for my $row (@wrong) {
    my ($args, $message) = @$row;
    my ($status, $output) = Command->run(@$args);
    my $name = @$args < 5 ? "@$args" : 'many addresses';
    is $output, "bontebok: $message\n", $name;
    is $status, 2, "$name: the exit status";
}
ok(IO::Socket::UNIX->new(Peer => $taken_path), 'the socket of a living server stays');
ok -f "$directory/file", 'the file stays';
is_deeply [sort map { s{.*/}{}r } glob "$directory/*"], [qw(dir file link taken)], 'no socket file is left';

# A living server whose queue is full.
my $full = IO::Socket::UNIX->new(Local => "$directory/full", Listen => 0) or die "listen: $!";
my @queue = fill("$directory/full");
is_deeply [Command->run('--listen', "$directory/full")],
  [2, "bontebok: --listen $directory/full: another server listens there\n"], 'a server whose queue is full';

# ---- addresses ----

# Arguments with PORT for a free port, the host to connect to, and SERVER_NAME.
my @addresses = (
    [['--listen', '127.0.0.1:PORT']      => '127.0.0.1', '127.0.0.1'],
    [['--listen', ':PORT']               => '127.0.0.1', '0.0.0.0'],
    [['--listen', '*:PORT']              => '127.0.0.1', '0.0.0.0'],
    [['--listen', 'PORT']                => '127.0.0.1', '0.0.0.0'],
    [['--port', 'PORT']                  => '127.0.0.1', '0.0.0.0'],
    [['-o', '127.0.0.1', '-p', 'PORT']   => '127.0.0.1', '127.0.0.1'],
    [['--listen', 'localhost:PORT']      => '127.0.0.1', 'localhost'],
    [['--listen', '[::1]:PORT']          => '::1',       '[::1]'],
    [['--host', '::1', '--port', 'PORT'] => '::1',       '[::1]'],
    [['--host', '[::1]', '--port', 'PORT'] => '::1',     '[::1]'],
    [['--listen', '127.0.0.1:PORT', '--listen', '[::1]:PORT'] => '::1', '[::1]'],
);
for my $row (@addresses) {
    my ($args, $host, $name) = @$row;
SKIP: {
        free_port($host) or skip "no $host here", 1;
        my ($server, $port);
        TestServer::eventually {
            $port = free_port($host);
            my @args = map { s/PORT/$port/r } @$args;
            my $ready = sub { EnvServer::connect_to($host, $port) };
            $server = eval { Command->start(app => $app, args => \@args, path => undef, ready => $ready) };
        };
        is tcp_get($host, $port), "$name $port", "@$args";
        next if $host eq '::1';

        # The connection above has ended at the server's side, which must not keep the port from the next server.
        $server->stop;
        $args   = [map { s/PORT/$port/r } @$args];
        $server = Command->start(app => $app, args => $args, path => undef,
            ready => sub { EnvServer::connect_to($host, $port) });
        is tcp_get($host, $port), "$name $port", "@$args: again";
    }
}

my $server = Command->start(app => $app, args => [map { ('--listen', "$directory/s$_") } 1 .. 3]);
for my $path ($server->path, map { "$directory/s$_" } 1 .. 3) {
    like(Command->raw_at($path, EnvServer::http('GET / HTTP/1.1')), qr/\r\n\r\nlocalhost \Q$path\E\z/, $path);
}
is $server->stop, 0, 'the end';

for my $args (['--socket', "$directory/sock"], ['-S', "$directory/sock"], ['--listen', "unix://$directory/sock"]) {
    undef $server;    # a KILL: the file stays
    $server = Command->start(app => $app, args => $args, path => undef,
        ready => sub { Command->serves_at("$directory/sock") });
    like(Command->raw_at("$directory/sock", EnvServer::http('GET / HTTP/1.1')),
        qr/\r\n\r\nlocalhost \Q$directory\E\/sock\z/, "@$args");
}

# ---- --backlog ----

# How many clients can wait in the queue of a server that has stopped.
sub room {
    my ($backlog) = @_;
    my $stopped = Command->start(args => ["--backlog=$backlog"]);
    kill STOP => $stopped->pid;
    waitpid $stopped->pid, POSIX::WUNTRACED();
    return scalar(() = fill($stopped->path));
}
is room(7) - room(2), 5, '--backlog';

done_testing;
