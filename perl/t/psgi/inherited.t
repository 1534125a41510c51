# Listeners of other programs: SERVER_STARTER_PORT (start_server) and LISTEN_FDS (systemd). They win over --listen. The
# server leaves the sockets and their files as they are, and hides them from commands.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok         ();
use Command          ();
use EnvServer        ();
use IO::Socket::UNIX ();
use POSIX            ();
use Test::More;

use sigtrap handler => sub { exit 1 }, qw(HUP INT TERM);    # ends the servers, too

# The application answers with the name of its listener, or with what it sees: the variables and the sockets of this
# process, or of a command. A listener is shown by its port or path.
my $app = <<'END';
use Socket qw(:DEFAULT AF_INET6 unpack_sockaddr_in6);
my $look = q{
    my @seen = grep /^(?:SERVER_STARTER_PORT|LISTEN_)/, sort keys %ENV;
    for (3 .. 63) {
        open my $handle, '<&', $_ or next;
        push @seen, 'socket' if -S $handle;
    }
    print "@seen";
};
my %unpack = (AF_UNIX, \&unpack_sockaddr_un, AF_INET, \&unpack_sockaddr_in, AF_INET6, \&unpack_sockaddr_in6);
sub listens {
    open my $handle, '<&', $_[0] or return;
    my $name = getsockname $handle or return;
    unpack 'i', getsockopt $handle, SOL_SOCKET, SO_ACCEPTCONN or return;
    return ($unpack{ sockaddr_family($name) }->($name))[0];
}
my %answers = (
    '/'          => sub { "$_[0]{SERVER_NAME} $_[0]{SERVER_PORT}" },
    '/variables' => sub { join ' ', grep /^(?:SERVER_STARTER_PORT|LISTEN_)/, sort keys %ENV },
    '/listeners' => sub { join ' ', sort map { listens($_) } 3 .. 63 },
    '/command'   => sub { open my $output, '-|', $^X, '-e', $look or die $!; 'sees: ' . (readline($output) // '') },
);
sub { [200, [], [$answers{ $_[0]{PATH_INFO} }->($_[0])]] };
END

my $directory = File::Temp->newdir;
my $path      = "$directory/a=b;c=2x;d.sock";

sub unix { return IO::Socket::UNIX->new(Local => $_[0], Listen => $_[1] // 8) || die "listen: $!" }

sub body_from {
    my ($socket, $target) = @_;
    syswrite $socket, EnvServer::http("GET $target HTTP/1.1");
    return TestServer::read_all($socket) =~ /\r\n\r\n(.*)\z/s ? $1 : 'no response';
}
sub body_at { my ($unix, $target) = @_; return body_from(IO::Socket::UNIX->new(Peer => $unix), $target) }

my %paths = map { $_ => "$directory/$_" } qw(a b);
my %units = map { $_ => unix($paths{$_}) } qw(a b);
$_->blocking(0) for values %units;

# What the file of the socket is, without the time of the last access.
sub identity { return join ' ', (stat $path)[0 .. 7, 9, 10] }

# Starts a server that gets sockets. Options are those of Command.
sub started {
    my ($at, %options) = @_;
    return Command->start(app => $app, group => 1, ready => sub { Command->serves_at($at) }, %options);
}

# How many clients can wait in the queue of a unix socket.
sub room {
    my ($at) = @_;
    my @clients;
    while (@clients < 100) {
        socket(my $client, Socket::AF_UNIX, Socket::SOCK_STREAM, 0) or die "socket: $!";
        $client->blocking(0);
        connect($client, Socket::pack_sockaddr_un($at)) or last;
        push @clients, $client;
    }
    return scalar @clients;
}

# True if only the test takes connections from this unit's socket, and not the server that listens at the other path.
sub is_free {
    my ($unit, $at) = @_;
    my $client = IO::Socket::UNIX->new(Peer => $paths{$unit}) or die "connect: $!";
    body_at($at, '/') for 1 .. 3;
    return accept my $peer, $units{$unit};
}

# ---- start_server ----

my @workers = Bontebok::Shared::is_possible() ? (0, 2) : (0);
for my $workers (@workers) {
    my $v4   = EnvServer::listener('127.0.0.1') or die "listen: $!";
    my $v6   = EnvServer::listener('::1');
    my $unix = unix($path, 3);
    my ($port, $port6) = map { $_ && EnvServer::port_of($_) } $v4, $v6;
    my $file = identity();

    my @passed = ("127.0.0.1:$port=3", "$path=4", "again=4", $v6 ? "[::1]:$port6=5" : ());
    my $server = started($path,
        args   => ['--max-workers', $workers, '--backlog', 50],
        env    => { SERVER_STARTER_PORT => join ';', @passed },
        passes => [$v4, $unix, $v6 || ()]
    );
    my $name = "$workers workers";
    is body_from(EnvServer::connect_to('127.0.0.1', $port), '/'), "127.0.0.1 $port", "$name: TCP";
    is body_at($path, '/'), "localhost $path", "$name: a unix socket";
    is body_from(EnvServer::connect_to('::1', $port6), '/'), "[::1] $port6", "$name: IPv6" if $v6;

    is body_at($path, '/listeners'), join(' ', sort $path, $port, $port6 // ()), "$name: each listener once, no other";
    ok !-e $server->path, "$name: --listen has no effect";
    is body_at($path, '/variables'), '',       "$name: the variable is removed";
    is body_at($path, '/command'),   'sees: ', "$name: a command gets no socket and no variable";

    if (!$workers) {
        kill STOP => $server->pid;
        waitpid $server->pid, POSIX::WUNTRACED();
        my $alone = unix("$directory/alone", 3);
        is room($path), room("$directory/alone"), 'the backlog';
        kill CONT => $server->pid;
    }

    is $server->stop, 0, "$name: the end";
    is identity(), $file, "$name: the file is as before";
    for my $socket ($v4, $unix) {
        my $client = $socket == $v4 ? EnvServer::connect_to('127.0.0.1', $port) : IO::Socket::UNIX->new(Peer => $path);
        ok $client && accept(my $peer, $socket), "$name: the socket still listens";
    }
    unlink $path or die "unlink: $!";
}

# ---- systemd ----

my @own = (LISTEN_PID => sub { $$ });

# The variables, the sockets that are passed, those on which the server listens ("own": that of --listen), and the log.
my $not_for = 'LISTEN_FDS is not for this process: LISTEN_PID is';
my @rows    = (
    [{ @own, LISTEN_FDS => 2, LISTEN_FDNAMES => 'a:b' },         ['a', 'b'], 'a b'],
    [{ @own, LISTEN_FDS => 1 },                                  ['a', 'b'], 'a'],
    [{ @own, LISTEN_FDS => 0 },                                  ['a'],      'own'],
    [{ @own },                                                   ['a'],      'own'],
    [{ LISTEN_PID => 1, LISTEN_FDS => 1 },                       ['a'],      'own', "$not_for '1'"],
    [{ LISTEN_FDS => 1 },                                        ['a'],      'own', "$not_for ''"],
    [{ SERVER_STARTER_PORT => '' },                              ['a'],      'own'],
    [{ SERVER_STARTER_PORT => 'x=3;' },                          ['a', 'b'], 'a'],
    [{ @own, LISTEN_FDS => 1, SERVER_STARTER_PORT => 'x=4' },    ['a', 'b'], 'a b'],
    [{ @own, LISTEN_FDS => 2, SERVER_STARTER_PORT => 'x=3' },    ['a', 'b'], 'a b'],
    [{ LISTEN_FDS => 1, SERVER_STARTER_PORT => 'x=4' },          ['a', 'b'], 'b', "$not_for ''"],
);
for my $row (@rows) {
    my ($env, $passed, $expected, $log) = @$row;
    my $name   = join ' ', map { "$_=" . (ref $env->{$_} ? 'its own' : $env->{$_}) } sort keys %$env;
    my $own    = "$directory/own";
    my $at     = $expected eq 'own' ? $own : $paths{ substr $expected, 0, 1 };
    my $server = started($at, env => $env, passes => [@units{@$passed}], path => $own);

    is body_at($_, '/'), "localhost $_", "$name: it serves at $_"
      for map { $paths{$_} // $own } split ' ', $expected;
    ok is_free($_, $at), "$name: it does not serve at $_" for grep { index($expected, $_) < 0 } @$passed;
    is -S $own ? 'own' : '', $expected eq 'own' ? 'own' : '', "$name: its own socket";
    is body_at($at, '/variables'), '', "$name: the variables are removed";
    is $server->log =~ s/\A\S+ warn [0-9]+ - - //r, $log ? "$log\n" : '', "$name: the log";
    is $server->stop, 0, "$name: the end";
    ok -S $paths{$_}, "$name: the file $_ stays" for qw(a b);
}

done_testing;
