package Bontebok::Inherited;

# The listening sockets that another program has passed to this process: start_server (SERVER_STARTER_PORT) or systemd
# (LISTEN_FDS, see sd_listen_fds(3)). Bontebok::Listeners checks the sockets.

use strict;
use warnings;

use Bontebok::Log       ();
use Bontebok::UserError qw(refuse);
use Fcntl               qw(F_SETFD FD_CLOEXEC);
use IO::Socket          ();
use POSIX               ();

use constant { FIRST_OF_SYSTEMD => 3, MOST => 9999 };

# Returns pairs: an open handle, and the name for messages. The variables are removed, because programs that the
# application executes do not inherit the sockets. Dies with a message for the user.
sub take {
    my ($starter, $pid, $count) = delete @ENV{qw(SERVER_STARTER_PORT LISTEN_PID LISTEN_FDS)};
    delete $ENV{LISTEN_FDNAMES};
    my @entries = (_of_start_server($starter // ''), _of_systemd($pid // '', $count // ''));
    my %seen;
    return map { [_handle(@$_), $_->[1]] } grep { !$seen{ $_->[0] }++ } @entries;
}

# "ADDRESS=DESCRIPTOR;ADDRESS=DESCRIPTOR". A path may contain "=" and ";".
sub _of_start_server {
    my ($text) = @_;
    my @entries;
    while ($text =~ /\G(.+?)=([0-9]{1,9})(?:;|\z)/gcs) {
        push @entries, [$2, "SERVER_STARTER_PORT $1"];
    }
    (pos $text // 0) == length $text
      or refuse("SERVER_STARTER_PORT must be ADDRESS=DESCRIPTOR;..., not '$text'");
    return @entries;
}

# If systemd has started a shell, and the shell has started this process, then the sockets are meant for the shell.
sub _of_systemd {
    my ($pid, $count) = @_;
    return if $count eq '';
    $count =~ /\A[0-9]+\z/ && $count <= MOST or refuse("LISTEN_FDS must be a number, not '$count'");
    if ($pid ne $$) {
        Bontebok::Log::report('warn', "LISTEN_FDS is not for this process: LISTEN_PID is '$pid'");
        return;
    }
    return map { [$_, "LISTEN_FDS $_"] } FIRST_OF_SYSTEMD .. FIRST_OF_SYSTEMD + $count - 1;
}

sub _handle {
    my ($descriptor, $name) = @_;
    # Perl would make a table of all descriptors up to this one, before it finds out that it is closed.
    defined POSIX::dup2($descriptor, $descriptor) or refuse("$name: $!");
    my $handle = IO::Socket->new_from_fd($descriptor, '+<') or refuse("$name: $!");
    fcntl $handle, F_SETFD, FD_CLOEXEC or refuse("$name: $!");
    return $handle;
}

1;
