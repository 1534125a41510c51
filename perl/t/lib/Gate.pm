package Gate;

# A place where other processes wait until the test lets them go on: a unix socket. See PreforkServer for the other
# side, which sends its process ID.

use strict;
use warnings;

use IO::Socket::UNIX ();
use Socket           qw(SOL_SOCKET SO_RCVTIMEO SOMAXCONN);
use TestServer       ();

sub new {
    my ($class, $path) = @_;
    my $socket = IO::Socket::UNIX->new(Local => $path, Listen => SOMAXCONN) or die "$path: $!";
    setsockopt $socket, SOL_SOCKET, SO_RCVTIMEO, pack('l!l!', TestServer::LIMIT(), 0);
    return bless { socket => $socket }, $class;
}

# Returns the next process that waits, as an object.
sub next {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($self) = @_;
    accept my $peer, $self->{socket} or die "no process waits at the gate: $!";
    chomp(my $pid = readline $peer // '');
    return bless { socket => $peer, pid => $pid }, 'Gate::Process';
}

package Gate::Process;

sub pid { return $_[0]{pid} }

# The process goes on. order: undef, or a word that its wait_at() returns. Without a call of this method, it goes on
# when this object is destroyed.
sub let_go {
    my ($self, $order) = @_;
    local $SIG{PIPE} = 'IGNORE';
    syswrite $self->{socket}, $order if defined $order;
    close delete $self->{socket};
    return;
}

1;
