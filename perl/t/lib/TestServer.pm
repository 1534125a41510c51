package TestServer;

# A server for tests: Plack::Handler::Bontebok in a process of its own, on a unix socket in a temporary directory. The
# test sends requests as bytes and gets responses as bytes. The process ends with the object, or if the test dies.

use strict;
use warnings;

use File::Temp ();
use IO::Socket::UNIX ();
use POSIX ();
use Plack::Handler::Bontebok ();
use Time::HiRes ();

# Seconds after which a test fails that waits for the server.
use constant LIMIT => 20;

# app: a code reference. options: as for plackup, for example (keepalive => 0). By default one process serves. Returns
# when the server listens.
sub start {
    my ($class, $app, %options) = @_;
    my $directory = File::Temp->newdir;
    my $self      = bless { directory => $directory, owner => $$, path => "$directory/sock" }, $class;
    pipe(my $ready, my $says) or die "pipe: $!";
    $self->{pid} = fork // die "fork: $!";
    $self->_serve($app, $ready, $says, %options) unless $self->{pid};
    close $says;
    readline $ready or die 'the server has not started: ' . $self->log;
    return $self;
}

sub _serve {
    my ($self, $app, $ready, $says, %options) = @_;
    close $ready;
    open STDERR, '>>', "$self->{directory}/log" or POSIX::_exit(1);
    STDERR->autoflush(1);
    my $also     = delete $options{server_ready} // sub { };
    my $announce = sub { syswrite $says, "ready\n"; close $says; $also->(@_) };
    my $done     = eval {
        my @given = (listen => [$self->{path}], max_workers => 0, server_ready => $announce, %options);
        Plack::Handler::Bontebok->new(@given)->run($app);
        1;
    };
    print STDERR $@ unless $done;
    POSIX::_exit($done ? 0 : 1);
}

sub pid  { return $_[0]{pid} }
sub path { return $_[0]{path} }

# What the server and the application have written to STDERR.
sub log {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($self) = @_;
    open my $file, '<', "$self->{directory}/log" or return '';
    local $/;
    return scalar(<$file>) // '';
}

# Returns a connection: an IO::Socket::UNIX whose reads fail after LIMIT.
sub connect {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($self) = @_;
    my $socket = IO::Socket::UNIX->new(Peer => $self->{path}) or die "connect: $!";
    setsockopt $socket, Socket::SOL_SOCKET(), Socket::SO_RCVTIMEO(), pack('l!l!', LIMIT, 0);
    return $socket;
}

# Sends bytes on a new connection, and returns all bytes that come until the server closes it.
sub raw {
    my ($self, $bytes) = @_;
    my $socket = $self->connect;
    _send($socket, $bytes);
    return read_all($socket);
}

# GET on a new connection that ends after the response. fields: lines without line ends.
sub get {
    my ($self, $target, @fields) = @_;
    return $self->raw(join "\r\n", "GET $target HTTP/1.1", 'Host: test', 'Connection: close', @fields, '', '');
}

# POST, in the same way. body: bytes.
sub post {
    my ($self, $target, $body, @fields) = @_;
    my $length = 'Content-Length: ' . length $body;
    return $self->raw(join "\r\n", "POST $target HTTP/1.1", 'Host: test', 'Connection: close', $length, @fields, '',
        $body);
}

sub read_all {
    my ($socket) = @_;
    my $all = '';
    while (1) {
        my $count = sysread $socket, $all, 65536, length $all;
        last if !defined $count && $!{ECONNRESET};
        defined $count or die "read: $!";
        last if $count == 0;
    }
    return $all;
}

sub _send {
    my ($socket, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $sent = 0;
    while ($sent < length $bytes) {
        $sent += syswrite($socket, $bytes, length($bytes) - $sent, $sent) // last;
    }
    return;
}

# Waits until the block returns true. Returns what it returns, or false after LIMIT.
sub eventually(&) {
    my ($block) = @_;
    my $end = Time::HiRes::time() + LIMIT;
    while (1) {
        my $result = $block->();
        return $result if $result || Time::HiRes::time() > $end;
        Time::HiRes::sleep(0.01);
    }
}

# Sends a signal, waits for the end, and returns the wait status ($?). signal: undef: the server ends by itself.
sub stop {
    my ($self, $signal) = @_;
    kill $signal // 'TERM', $self->{pid} if @_ < 2 || defined $signal;
    my $status;
    eventually {
        $status = $? if waitpid($self->{pid}, POSIX::WNOHANG()) == $self->{pid};
        return defined $status;
    };
    delete $self->{pid} if defined $status;
    return $status;
}

sub DESTROY {
    my ($self) = @_;
    return if $$ != $self->{owner} || !$self->{pid};
    local ($@, $!, $?);
    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
    return;
}

1;
