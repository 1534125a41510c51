package EnvServer;

# A TestServer whose application returns its env. The test reads the env of a request as a hash reference. Values that
# are references come as the name of their type.

use strict;
use warnings;

use Data::Dumper ();
use TestServer   ();
use Socket qw(AF_INET AF_INET6 IPPROTO_IPV6 IPV6_V6ONLY SOCK_STREAM SOL_SOCKET SO_RCVTIMEO inet_pton pack_sockaddr_in
  pack_sockaddr_in6 sockaddr_family unpack_sockaddr_in unpack_sockaddr_in6);

use parent -norequire, 'TestServer';

# options: as for TestServer->start. before: undef, or code that is called with env before env is copied.
sub start {
    my ($class, %options) = @_;
    my $before = delete $options{before};
    my $app    = sub {
        my ($env) = @_;
        $before->($env) if $before;
        return [200, ['Content-Type' => 'text/plain'], [_dump($env)]];
    };
    return $class->SUPER::start($app, %options);
}

sub _dump {
    my ($env) = @_;
    my %copy = map { $_ => ref $env->{$_} || $env->{$_} } keys %$env;
    return Data::Dumper->new([\%copy])->Terse(1)->Useqq(1)->Dump;
}

# The env of a request that is sent as these bytes on a new connection.
sub env_of {
    my ($self, $bytes) = @_;
    my $response = $self->raw($bytes);
    $response =~ m{\AHTTP/1\.1 200 } or die "not a 200: $response";
    return read_env($response);
}

# The env in the bytes of a response.
sub read_env {
    my ($response) = @_;
    my ($dump)     = $response =~ /\r\n\r\n(.*)\z/s;
    my $env        = eval $dump;    ## no critic (BuiltinFunctions::ProhibitStringyEval)
    ref $env or die "no env: $response";
    return $env;
}

# A request as bytes: the request line, fields and a body. The server closes the connection after the response.
sub http {
    my ($line, $fields, $body) = @_;
    return join("\r\n", $line, 'Host: test', 'Connection: close', @{ $fields || [] }, '', '') . ($body // '');
}

# ---- TCP ----

# IO::Socket::IP is not part of Perl before 5.20.
sub _address {
    my ($host, $port) = @_;
    return pack_sockaddr_in6($port, inet_pton(AF_INET6, $host)) if $host =~ /:/;
    return pack_sockaddr_in($port, inet_pton(AF_INET, $host));
}

sub _tcp {
    my ($host) = @_;
    my $family = $host =~ /:/ ? AF_INET6 : AF_INET;
    socket(my $socket, $family, SOCK_STREAM, 0) or return;
    return $socket;
}

# A connection to a TCP port, like TestServer->connect. Undef: nobody listens.
sub connect_to {
    my ($host, $port) = @_;
    my $socket = _tcp($host) or return;
    setsockopt($socket, SOL_SOCKET, SO_RCVTIMEO, pack('l!l!', TestServer::LIMIT(), 0));
    return connect($socket, _address($host, $port)) ? $socket : undef;
}

# A listening socket on a free port, as Plack::Test makes it. "::" also takes IPv4. Undef: this machine has no such
# address.
sub listener {
    my ($host) = @_;
    my $socket = _tcp($host) or return;
    setsockopt($socket, IPPROTO_IPV6, IPV6_V6ONLY, pack('i', 0)) if $host eq '::';
    return bind($socket, _address($host, 0)) && listen($socket, 8) ? $socket : undef;
}

# The port of a socket's own address.
sub port_of {
    my ($socket) = @_;
    my $name = getsockname $socket;
    return (sockaddr_family($name) == AF_INET6 ? unpack_sockaddr_in6($name) : unpack_sockaddr_in($name))[0];
}

1;
