package Bontebok::SocketFile;

# A unix socket that listens, and its file. The file is removed when the object is destroyed, also after exit(). A
# process that the application has forked removes nothing. Bontebok::Listeners uses this class.

use strict;
use warnings;

use Bontebok::UserError qw(refuse);
use Errno               qw(EAGAIN ECONNREFUSED ENOENT);
use Fcntl               qw(:flock);
use File::Basename      ();
use File::Spec          ();
use IO::Handle          ();
use Socket              qw(AF_UNIX SOCK_STREAM pack_sockaddr_un);
use Time::HiRes         ();

use constant LONGEST_PATH => 107;

# The lock of a directory is tried so often, with so many seconds in between. A server holds it for a millisecond.
use constant { ATTEMPTS => 25, INTERVAL => 0.02 };

# path: bytes, at most LONGEST_PATH. Dies with a message for the user.
sub listen {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($class, $path, $backlog) = @_;
    my $lock = _lock(File::Basename::dirname($path));
    _remove_stale($path);
    socket(my $socket, AF_UNIX, SOCK_STREAM, 0) or refuse("--listen $path: $!");
    _bind($socket, $path) or refuse("--listen $path: " . (_dangling($path) // $!));
    my $absolute = File::Spec->rel2abs($path);    # the application may change the directory
    my $self     = bless { owner => $$, path => $absolute, identity => scalar _identity($absolute) }, $class;
    CORE::listen($socket, $backlog) or refuse("--listen $path: $!");
    $self->{socket} = $socket;
    return $self;
}

# Returns the socket, which then belongs to the caller.
sub take_socket { return delete $_[0]{socket} }

sub DESTROY {
    my ($self) = @_;
    return if $self->{owner} != $$;
    local ($@, $!, $?);
    my $now = _identity($self->{path});
    unlink $self->{path} if defined $now && $now eq $self->{identity};
    return;
}

# A thread that the application starts gets no copy, whose DESTROY would remove the file.
sub CLONE_SKIP { return 1 }

# The file has the mode 0777, as that of the Ruby server: each process that may enter the directory may connect.
sub _bind {
    my ($socket, $path) = @_;
    my $mask = umask 0;
    my $done = bind $socket, pack_sockaddr_un($path);
    umask $mask;
    return $done;
}

# The lock prevents two servers from removing each other's file. All users with read permission can lock the directory,
# so the server goes on if it does not get the lock. With the dot, only a directory can be opened: the open of a pipe
# would wait.
sub _lock {
    my ($directory) = @_;
    CORE::open(my $lock, '<', "$directory/.") or return;
    for (1 .. ATTEMPTS) {
        return $lock if flock $lock, LOCK_EX | LOCK_NB;
        Time::HiRes::sleep(INTERVAL);
    }
    return;
}

# Removes a socket file without a server. A connection attempt that would have to wait finds a server, too.
sub _remove_stale {
    my ($path) = @_;
    -e $path or return;
    -S _ or refuse("--listen $path: the file exists and is no socket");
    socket(my $probe, AF_UNIX, SOCK_STREAM, 0) or refuse("--listen $path: $!");
    $probe->blocking(0);
    (connect($probe, pack_sockaddr_un($path)) || $! == EAGAIN)
      and refuse("--listen $path: another server listens there");
    $! == ECONNREFUSED || $! == ENOENT or refuse("--listen $path: $!");
    unlink $path or $! == ENOENT or refuse("--listen $path: cannot remove the old socket: $!");
    return;
}

# Says which part of the path is a link to a missing file. Returns undef if there is none.
sub _dangling {
    my ($path) = @_;
    return if -e $path;
    return "$path is a link to @{[readlink $path]}, which does not exist" if -l $path;
    my $above = File::Basename::dirname($path);
    return $above eq $path ? undef : _dangling($above);
}

# The inode alone may belong to another server's file: when the socket is closed, the system uses its number again.
sub _identity {
    my ($path) = @_;
    return unless lstat $path and -S _;
    my ($device, $inode, $changed) = (Time::HiRes::stat($path))[0, 1, 9] or return;
    return "$device:$inode:$changed";
}

1;
