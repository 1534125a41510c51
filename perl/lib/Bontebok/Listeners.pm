package Bontebok::Listeners;

# The sockets on which the server listens: those of another program (Bontebok::Inherited), of the caller, or its own.
# The core gets copies of them. The files of the server's own unix sockets are removed by remove_files, or when an
# object of this class is destroyed (Bontebok::SocketFile).

use strict;
use warnings;

use Bontebok::Address    ();
use Bontebok::Inherited  ();
use Bontebok::SocketFile ();
use Bontebok::UserError  qw(refuse);
use Errno                qw(EADDRNOTAVAIL EAFNOSUPPORT);
use Socket qw(AF_UNIX AI_PASSIVE NI_NUMERICHOST NI_NUMERICSERV SOCK_STREAM SOL_SOCKET SO_ACCEPTCONN SO_REUSEADDR
  getaddrinfo getnameinfo pack_sockaddr_un sockaddr_family unpack_sockaddr_un);

# MOST is the core's limit.
use constant { DEFAULT_PORT => 8080, MOST => 64 };

# options: Bontebok::Options. Dies with a message for the user.
sub open {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($class, $options) = @_;
    my $self = bless { listeners => [], files => [], backlog => $options->get('backlog') }, $class;
    my $given     = $options->get('listen_sock');
    my @inherited = $given ? () : Bontebok::Inherited::take();
    if ($given) {
        $self->_adopt($given, '--listen-sock');
    } elsif (@inherited) {    # plackup always passes an address, so it does not count
        $self->_adopt(@$_) for @inherited;
    } else {
        $self->_listen($_) for _addresses($options);
    }
    @{ $self->{listeners} } <= MOST or refuse("there are more than @{[MOST]} addresses to listen on");
    return $self;
}

# Returns hash references: socket, and name and port for SERVER_NAME and SERVER_PORT.
sub all { return @{ $_[0]{listeners} } }

# Closes this object's sockets when the core has copies. An open socket would take connections that nobody serves, after
# the core has closed its own. A socket of the caller stays open.
sub close {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($self) = @_;
    delete $_->{socket} for @{ $self->{listeners} };
    return;
}

# Closes also a socket of the caller: a worker never returns to the caller.
sub close_all {
    my ($self) = @_;
    CORE::close(delete $_->{socket}) for @{ $self->{listeners} };
    return;
}

sub remove_files { @{ $_[0]{files} } = (); return }

# ---- addresses ----

sub _addresses {
    my ($options) = @_;
    my ($host, $port) = ($options->get('host') // '', $options->get('port') // DEFAULT_PORT);
    my $listen = $options->get('listen');
    my @listen = ref $listen ? @$listen : defined $listen ? ($listen) : ();
    return $options->get('socket') if !@listen && defined $options->get('socket');
    $host =~ m{/} and refuse("--host must be a name or an IP address, not '$host': --listen takes a path");
    my $own = "$host:$port";
    $host = "[$host]" if $host =~ /:/ && $host !~ /\A\[/;
    return map { $_ eq $own ? "$host:$port" : $_ } @listen if @listen;    # plackup also passes --host and --port
    $port =~ /\A[0-9]+\z/ or refuse("--port must be a number from 1 to 65535, not '$port'");
    return "$host:$port";
}

sub _listen {
    my ($self, $address) = @_;
    my ($kind, @where) = Bontebok::Address::parse($address);
    return
        $kind eq 'tcp'  ? $self->_listen_on_port($address, @where)
      : $kind eq 'name' ? $self->_listen_on_name(@where)
      :                   $self->_listen_on_path(@where);
}

# ---- TCP ----

sub _listen_on_port {
    my ($self, $address, $host, $port) = @_;
    $port =~ /\A[1-9]/ && $port <= 65535 or refuse("--listen $address: a port is a number from 1 to 65535");
    $host = '0.0.0.0' if $host eq '';
    my ($error, @found) = getaddrinfo($host, $port, { flags => AI_PASSIVE, socktype => SOCK_STREAM });
    refuse("--listen $address: $error") if $error;
    my ($opened, $absent, %seen);
    for my $info (grep { !$seen{ $_->{addr} }++ } @found) {    # /etc/hosts may have an address twice
        my $socket = $self->_bound($address, $info) or $absent = $!, next;
        $self->_add($socket, $host, $port);
        $opened = 1;
    }
    $opened or refuse("--listen $address: $absent");
    return;
}

# Returns undef if this machine does not have the address: "localhost" may have an IPv6 address where IPv6 is off.
sub _bound {
    my ($self, $address, $info) = @_;
    my $socket;
    my $done = socket($socket, $info->{family}, SOCK_STREAM, 0)
      && setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1)
      && bind($socket, $info->{addr})
      && listen($socket, $self->{backlog});
    return $socket if $done;
    return if $! == EADDRNOTAVAIL || $! == EAFNOSUPPORT;
    refuse("--listen $address: $!");
}

# ---- unix sockets ----

# An abstract name has no file (unix(7)).
sub _listen_on_name {
    my ($self, $name) = @_;
    $name = _checked("\@$name");
    my $address = $name =~ s/\A\@/\0/r;
    my $socket;
    socket($socket, AF_UNIX, SOCK_STREAM, 0)
      && bind($socket, pack_sockaddr_un($address))
      && listen($socket, $self->{backlog})
      or refuse("--listen unix:$name: $!");
    return $self->_add($socket, 'localhost', $name);
}

# Returns the bytes.
sub _checked {
    my ($path) = @_;
    utf8::encode($path) if utf8::is_utf8($path);    # perl -CA decodes arguments
    (my $shown = $path) =~ s/[\x00-\x1f\x7f]/?/g;
    $shown eq $path or refuse("--listen $shown: a path has no control characters");
    my ($bytes, $most) = (length $path, Bontebok::SocketFile::LONGEST_PATH());
    $bytes <= $most or refuse("--listen $path: a path has at most $most bytes, and this one has $bytes");
    return $path;
}

sub _listen_on_path {
    my ($self, $path) = @_;
    $path = _checked($path);
    my $file = Bontebok::SocketFile->listen($path, $self->{backlog});
    push @{ $self->{files} }, $file;
    $self->_add($file->take_socket, 'localhost', $path);
    return;
}

# ---- a socket of the caller, or of another program ----

# source: its name for messages.
sub _adopt {
    my ($self, $socket, $source) = @_;
    defined eval { fileno $socket } or refuse("$source must be an open socket");
    my $name = getsockname $socket or refuse("$source: $!");
    my $listens = getsockopt $socket, SOL_SOCKET, SO_ACCEPTCONN;
    $listens && unpack 'i', $listens or refuse("$source must be a socket that listens");
    if (sockaddr_family($name) == AF_UNIX) {
        my $path = unpack_sockaddr_un($name) =~ s/\A\0/\@/r;
        return $self->_add($socket, 'localhost', length $path ? $path : 'unix');
    }
    my ($error, $host, $port) = getnameinfo($name, NI_NUMERICHOST | NI_NUMERICSERV);
    refuse("$source: $error") if $error;
    return $self->_add($socket, $host, $port);
}

sub _add {
    my ($self, $socket, $name, $port) = @_;
    $name = "[$name]" if $name =~ /:/;    # RFC 3875 4.1.14: an IPv6 address
    push @{ $self->{listeners} }, { socket => $socket, name => $name, port => $port };
    return;
}

1;
