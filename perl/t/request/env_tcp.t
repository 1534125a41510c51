# The addresses in env over TCP: those of the listener, and those of the client. Several listeners have their own.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use EnvServer        ();
use IO::Socket::UNIX ();
use Test::More;
use TestServer ();

# Sends a request to a port. Returns env and the client's port.
sub env_at {
    my ($host, $port, $fields) = @_;
    my $socket = EnvServer::connect_to($host, $port) or die "connect: $!";
    my $own    = EnvServer::port_of($socket);
    syswrite $socket, EnvServer::http('GET / HTTP/1.1', $fields);
    return (EnvServer::read_env(TestServer::read_all($socket)), $own);
}

sub check {
    my ($env, $expected, $name) = @_;
    is_deeply { map { $_ => $env->{$_} } qw(SERVER_NAME SERVER_PORT REMOTE_ADDR REMOTE_PORT) }, $expected, $name;
    return;
}

# ---- listen_sock ----

# Address, and the env's SERVER_NAME and REMOTE_ADDR. In RFC 3875, an IPv6 address has brackets in SERVER_NAME only.
for my $row (['127.0.0.1', '127.0.0.1', '127.0.0.1'], ['::1', '[::1]', '::1']) {
    my ($host, $name, $peer) = @$row;
SKIP: {
        my $socket = EnvServer::listener($host) or skip "no $host here", 1;
        my $port   = EnvServer::port_of($socket);
        my $server = EnvServer->start(listen_sock => $socket);
        my ($env, $own) = env_at($host, $port, ['X-Forwarded-For: 192.0.2.1']);
        check $env, { SERVER_NAME => $name, SERVER_PORT => $port, REMOTE_ADDR => $peer, REMOTE_PORT => $own }, $host;
    }
}

# An IPv6 socket that takes IPv4, too. The client's address is in IPv4's form.
SKIP: {
    my $socket = EnvServer::listener('::') or skip 'no ::', 1;
    my $port   = EnvServer::port_of($socket);
    my $server = EnvServer->start(listen_sock => $socket);
    my ($env, $own) = env_at('127.0.0.1', $port);
    check $env, { SERVER_NAME => '[::]', SERVER_PORT => $port, REMOTE_ADDR => '127.0.0.1', REMOTE_PORT => $own },
      'IPv4 on an IPv6 socket';
}

my $directory = File::Temp->newdir;
my $unix      = IO::Socket::UNIX->new(Local => "$directory/mine", Listen => 8) or die "listen: $!";
my $server    = EnvServer->start(listen_sock => $unix);
my $client    = IO::Socket::UNIX->new(Peer => "$directory/mine") or die "connect: $!";
syswrite $client, EnvServer::http('GET / HTTP/1.1');
check EnvServer::read_env(TestServer::read_all($client)),
  { SERVER_NAME => 'localhost', SERVER_PORT => "$directory/mine", REMOTE_ADDR => undef, REMOTE_PORT => 0 },
  'a unix socket of the caller';
is $server->stop, 0, 'the end';
ok -S "$directory/mine", 'the file of a socket of the caller is not removed';

# ---- several listeners ----

# Between close() and the start, another process may take a port. Then the test takes others.
sub several {
    my @ports = map { EnvServer::port_of(EnvServer::listener('127.0.0.1')) } 1 .. 2;
    my @listen = ("$directory/one", "unix:$directory/two", "127.0.0.1:$ports[0]", ":$ports[1]");
    my $server = eval { EnvServer->start(listen => \@listen) };
    return $server ? ($server, @ports) : ();
}

my @ports;
TestServer::eventually { ($server, @ports) = several() } or die 'no server';
for my $row (['127.0.0.1', $ports[0]], ['0.0.0.0', $ports[1]]) {
    my ($name, $port) = @$row;
    my ($env, $own) = env_at('127.0.0.1', $port);
    check $env, { SERVER_NAME => $name, SERVER_PORT => $port, REMOTE_ADDR => '127.0.0.1', REMOTE_PORT => $own },
      "TCP on $name";
}
for my $path (map { "$directory/$_" } qw(one two)) {
    my $socket = IO::Socket::UNIX->new(Peer => $path) or die "connect: $!";
    syswrite $socket, EnvServer::http('GET / HTTP/1.1');
    check EnvServer::read_env(TestServer::read_all($socket)),
      { SERVER_NAME => 'localhost', SERVER_PORT => $path, REMOTE_ADDR => undef, REMOTE_PORT => 0 }, $path;
}
is $server->stop, 0, 'the end of a server with several listeners';
ok !-e "$directory/$_", "the file $_ is removed" for qw(one two);

done_testing;
