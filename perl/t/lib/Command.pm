package Command;

# Runs the real command: plackup -s Bontebok, with the modules of this checkout, and with warnings. A command that
# serves is like a TestServer: the test sends bytes to it, reads its log and stops it.

use strict;
use warnings;

use Config     ();
use Cwd        ();
use File::Spec ();
use File::Temp ();
use POSIX      ();
use TestServer ();

use parent -norequire, 'TestServer';

# The application of a test that gives none.
use constant HELLO => 'sub { [200, [], ["Hello"]] }';

# Starts a server that listens on $server->path, and returns when it listens. Options:
#   app: the text of app.psgi. args: more arguments. env: variables for the process. path: the socket; undef: none, and
#   the test gives the addresses in args. limit: arguments for the shell's ulimit, for example "-n 32". chdir: the
#   current directory of the process. ready: code that returns true when the server is ready.
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
    my @command = ($^X, '-w', @modules, _plackup(), qw(-s Bontebok -E deployment), @$args);
    $self->{pid} = fork // die "fork: $!";
    return if $self->{pid};
    open STDOUT, '>>', "$self->{directory}/log" or POSIX::_exit(1);
    open STDERR, '>&', \*STDOUT or POSIX::_exit(1);
    chdir($options{chdir} // $self->{directory}) or POSIX::_exit(1);
    delete @ENV{qw(PERL5OPT PERL_UNICODE PLACK_ENV PLACK_SERVER)};
    $ENV{LC_ALL} = 'C';    # the language of the system's messages
    @ENV{ keys %{ $options{env} } } = values %{ $options{env} } if $options{env};
    push @command, "$self->{directory}/app.psgi";
    unshift @command, '/bin/sh', '-c', "ulimit $options{limit}; exec \"\$@\"", 'sh' if $options{limit};
    exec { $command[0] } @command or POSIX::_exit(127);
}

sub _plackup {
    for my $directory (File::Spec->path, @Config::Config{qw(sitebin vendorbin installbin)}) {
        return "$directory/plackup" if -f "$directory/plackup";
    }
    die 'plackup was not found';
}

1;
