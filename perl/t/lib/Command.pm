package Command;

# Runs the real command: plackup -s Bontebok, with the modules of this checkout, and with warnings. A command that
# serves is like a TestServer: the test sends bytes to it, reads its log and stops it. Without --max-workers, one
# process serves.

use strict;
use warnings;

use Config     ();
use Cwd        ();
use Fcntl      qw(F_DUPFD);
use File::Spec ();
use File::Temp ();
use POSIX      ();
use TestServer ();

use parent -norequire, 'TestServer';

# The application of a test that gives none.
use constant HELLO => 'sub { [200, [], ["Hello"]] }';

# Starts a server that listens on $server->path, and returns when it listens. Options:
#   app: the text of app.psgi. args: more arguments. env: variables for the process; a code reference is called there.
#   path: the socket; undef: none, and the test gives the addresses in args. limit: arguments for the shell's ulimit,
#   for example "-n 32". chdir: the current directory of the process. ready: code that returns true when the server is
#   ready. group: true: the process leads a new process group, which ends with the object. passes: sockets that the
#   process gets as the descriptors 3, 4 and so on. under: a command that executes plackup, and its arguments.
sub start {
    my ($class, %options) = @_;
    my $self = $class->_new(%options);
    my @args = exists $options{path} && !defined $options{path} ? () : ('--listen', $self->{path});
    $self->_spawn([@args, @{ $options{args} || [] }], %options);
    my $ready = $options{ready} || sub { $class->serves_at($self->{path}) };
    my $ended;
    TestServer::eventually { ($ended = waitpid($self->{pid}, POSIX::WNOHANG()) > 0) || $ready->() };
    if ($ended) {
        delete $self->{pid};
        die 'the server has not started: ' . $self->log;
    }
    return $self;
}

# Runs the command until it ends. Returns the exit status (or a text: a signal, or "no end"), and all output. Options
# are as for start, but without path and ready.
sub run {
    my ($class, @args) = @_;
    my %options = @args && ref $args[0] ? %{ shift @args } : ();
    my $self    = $class->_new(%options);
    $self->_spawn(\@args, %options);
    my $status = $self->stop(undef);
    my $log    = $self->log;
    return ('no end', $log) unless defined $status;
    return ($status & 127 ? 'signal ' . ($status & 127) : $status >> 8, $log);
}

# Sends bytes to another unix socket, like raw().
sub raw_at {
    my ($class, $path, $bytes) = @_;
    return (bless { path => $path, owner => 0 }, $class)->raw($bytes);
}

# Returns whether a server answers at this path. A malformed escape gets a 400, but the application is not called.
sub serves_at {
    my ($class, $path) = @_;
    return (eval { $class->raw_at($path, "GET /% HTTP/1.0\r\n\r\n") } // '') =~ / 400 /;
}

sub directory { return "$_[0]{directory}" }

# ---- log and end ----

# Waits until the log has this pattern. Returns whether it has.
sub logs {
    my ($self, $pattern) = @_;
    return TestServer::eventually { $self->log =~ $pattern };
}

# True if no process of this group runs. Processes whose parent has died stay as zombies in some containers.
sub is_gone {
    my ($self) = @_;
    kill 0, -$self->{group} or return 1;
    for my $path (glob '/proc/[0-9]*/stat') {
        open my $file, '<', $path or next;
        my ($state, $group) = (readline $file // '') =~ /.*\) (\S) \d+ (\d+) /s or next;
        return 0 if $group == $self->{group} && $state ne 'Z';
    }
    return 1;
}

sub DESTROY {
    my ($self) = @_;
    kill 'KILL', -$self->{group} if $$ == $self->{owner} && $self->{group};
    return $self->SUPER::DESTROY;
}

# ---- the start ----

sub _new {
    my ($class, %options) = @_;
    my $directory = File::Temp->newdir;
    my $self      = bless { directory => $directory, owner => $$ }, $class;
    $self->{path} = $options{path} // "$directory/sock";
    open my $file, '>', "$directory/app.psgi" or die "app.psgi: $!";
    print {$file} $options{app} // HELLO;
    close $file or die "app.psgi: $!";
    return $self;
}

sub _spawn {
    my ($self, $args, %options) = @_;
    my @modules = map { '-I' . Cwd::abs_path($_) } grep { -d } qw(blib/lib blib/arch);
    my @alone   = grep({ /\A--(?:max.)?workers\b/i } @$args) ? () : qw(--max-workers 0);
    my @command = ($^X, '-w', @modules, _plackup(), qw(-s Bontebok -E deployment), @alone, @$args);
    $self->{pid} = fork // die "fork: $!";
    $self->{group} = $self->{pid} if $options{group};
    return if $self->{pid};
    setpgrp if $options{group};
    open STDOUT, '>>', "$self->{directory}/log" or POSIX::_exit(1);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(1);
    chdir($options{chdir} // $self->{directory}) or POSIX::_exit(1);
    delete @ENV{qw(PERL5OPT PERL_UNICODE PLACK_ENV PLACK_SERVER SERVER_STARTER_PORT LISTEN_FDS LISTEN_PID)};
    $ENV{LC_ALL} = 'C';    # the language of the system's messages
    my %env = %{ $options{env} || {} };
    $ENV{$_} = ref $env{$_} ? $env{$_}->() : $env{$_} for keys %env;
    push @command, "$self->{directory}/app.psgi";
    unshift @command, @{ $options{under} || [] };
    _pass(@{ $options{passes} || [] });
    unshift @command, '/bin/sh', '-c', "ulimit $options{limit}; exec \"\$@\"", 'sh' if $options{limit};
    exec { $command[0] } @command or POSIX::_exit(127);
}

# The sockets may already have one of the numbers 3, 4 and so on.
sub _pass {
    my @high = map { fcntl($_, F_DUPFD, 100) || POSIX::_exit(1) } @_;
    POSIX::dup2($high[$_], 3 + $_) // POSIX::_exit(1) for 0 .. $#high;
    POSIX::close($_) for @high;
    return;
}

sub _plackup {
    for my $directory (File::Spec->path, @Config::Config{qw(sitebin vendorbin installbin)}) {
        return "$directory/plackup" if -f "$directory/plackup";
    }
    die 'plackup was not found';
}

1;
