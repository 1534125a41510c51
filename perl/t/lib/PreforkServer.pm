package PreforkServer;

# A Command with workers, for tests of their life. Its processes are a group. The application answers with the worker's
# process ID. A request, or a worker that starts, can wait at a Gate of the test.

use strict;
use warnings;

use Bontebok    ();
use Command     ();
use Gate        ();
use Test::More;

use parent -norequire, 'Command';

# A signal that ends the test also destroys its objects.
use sigtrap handler => sub { exit 1 }, qw(HUP INT TERM);

# The application. LOAD is executed when it is made. A signal interrupts sysread, but not readline.
use constant APP => <<'APP';
use strict;
use warnings;
use Socket ();
sub reach {
    my ($gate) = @_;
    socket my $socket, Socket::AF_UNIX, Socket::SOCK_STREAM, 0 or die "socket: $!";
    connect $socket, Socket::pack_sockaddr_un($gate) or die "$gate: $!";
    syswrite $socket, "$$\n";
    return $socket;
}
sub wait_at { return scalar readline reach(@_) }
LOAD;
my %routes = ('/' => sub { [200, [], [$$]] }, ROUTES);
sub {
    my ($env) = @_;
    my $path = $env->{PATH_INFO};
    wait_at('gate') if $path =~ s{^/wait(?=/)}{};
    return $routes{$path}->($env);
};
APP

# All tests of a file are skipped on systems where one process serves.
sub import {
    Bontebok::Shared::is_possible() or plan(skip_all => 'this system has no workers');
    -e "/proc/$$/task/$$/children"  or plan(skip_all => 'this kernel has no lists of child processes');
    return;
}

# Options are those of Command, and: workers: how many; default 2. routes: the text of pairs: a path, and a code
# reference that gets env. A request for "/wait" and such a path waits at the gate "gate". load: the text of code that
# app.psgi executes first. It may call wait_at('load').
sub start {
    my ($class, %options) = @_;
    return $class->SUPER::start($class->_complete(%options));
}

# Like Command->run, but with the options as a hash.
sub run {
    my ($class, %options) = @_;
    my %complete = $class->_complete(%options);
    return $class->SUPER::run(\%complete, @{ $complete{args} });
}

sub _complete {
    my ($class, %options) = @_;
    (my $app = APP) =~ s/\bLOAD\b/$options{load} || '1'/e;
    $app =~ s/\bROUTES\b/$options{routes} || ''/e;
    my @args = ('--max-workers', $options{workers} // 2, @{ $options{args} || [] });
    return (%options, app => $app, args => \@args, group => 1);
}

sub _new {
    my ($class, %options) = @_;
    my $self = $class->SUPER::_new(%options);
    $self->{$_} = Gate->new("$self->{directory}/$_") for qw(gate load);
    return $self;
}

# ---- workers ----

# The process IDs of all workers.
sub workers {
    my ($self) = @_;
    open my $file, '<', "/proc/$self->{group}/task/$self->{group}/children" or return;
    my @pids = sort { $a <=> $b } split ' ', readline($file) // '';
    return @pids;
}

# Waits until these workers have ended. Meanwhile, the block is called again and again.
sub lose {
    my ($self, $pids, $meanwhile) = @_;
    my %lost = map { $_ => 1 } @$pids;
    return TestServer::eventually { $meanwhile->() if $meanwhile; !grep { $lost{$_} } $self->workers };
}

# ---- requests ----

# A connection on which GET was sent. The server closes it after the response.
sub send_get {
    my ($self, $path) = @_;
    my $client = $self->connect;
    local $SIG{PIPE} = 'IGNORE';
    syswrite $client, "GET $path HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    return $client;
}

# The body of the response on such a connection; if it is no 200, the whole response.
sub body_of {
    my ($client) = @_;
    my $response = TestServer::read_all($client);
    return $response =~ m{\AHTTP/1\.1 200 OK\r\n.*?\r\n\r\n(.*)\z}s ? $1 : "no 200: $response";
}

sub body { my ($self, $path) = @_; return body_of($self->send_get($path)) }

# Sends requests that wait, and returns their connections and processes: each is in a worker of its own.
sub occupy {
    my ($self, @paths) = @_;
    return map { [$self->send_get("/wait$_"), $self->{gate}->next] } @paths;
}

# Waits until so many workers serve. Returns their process IDs.
sub serving {
    my ($self, $count) = @_;
    my @occupied = $self->occupy(('/') x $count);
    $_->[1]->let_go for @occupied;
    my @pids = sort { $a <=> $b } map { body_of($_->[0]) } @occupied;
    return @pids;
}

sub refuses { my ($self) = @_; return !IO::Socket::UNIX->new(Peer => $self->path) }

# The gates: that of requests, and that of workers that start.
sub gate { return $_[0]{gate} }
sub load { return $_[0]{load} }

sub signal_group { my ($self, $signal) = @_; return kill $signal, -$self->{group} }

1;
