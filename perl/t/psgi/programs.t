# Programs that run the server themselves: Plack::Runner, PLACK_SERVER, and a program that forks its servers.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok ();
use Command  ();
use POSIX    ();
use Test::More;

use sigtrap handler => sub { exit 1 }, qw(HUP INT TERM);    # ends the programs, too

my @workers   = Bontebok::Shared::is_possible() ? (0, 2) : (0);
my $directory = File::Temp->newdir;
my $path      = "$directory/sock";

# Runs a program with these arguments. Returns when a server answers.
sub program {
    my ($text, %options) = @_;
    my $self = bless { directory => $directory, path => $path, owner => $$ }, 'Command';
    unlink "$directory/log";
    $self->{pid} = $self->{group} = fork // die "fork: $!";
    if (!$self->{pid}) {
        setpgrp;
        open STDERR, '>', "$directory/log" or POSIX::_exit(1);
        delete @ENV{qw(PERL5OPT PLACK_ENV PLACK_SERVER)};
        @ENV{ keys %{ $options{env} } } = values %{ $options{env} };
        exec { $^X } $^X, '-w', (map { "-I$_" } @INC), '-e', $text, $path, @{ $options{args} } or POSIX::_exit(1);
    }
    TestServer::eventually { Command->serves_at($path) } or diag $self->log;
    return $self;
}

# ---- Plack::Runner ----

# The program goes on after the end of the server, and has its signal handlers.
my $runner = <<'END';
use strict;
use Plack::Runner;
my ($path, $workers, @server) = @ARGV;
$SIG{TERM} = sub { print STDERR "own\n" };
my $runner = Plack::Runner->new(env => 'deployment', @server);
$runner->parse_options('--listen', $path, '--max-workers', $workers);
$runner->run(sub { [200, [], [getppid]] });
print STDERR "goes on\n";
kill TERM => $$;
exit 7;
END
for my $workers (@workers) {
    for my $row (
        [[server => 'Bontebok'], {}],
        [[], { PLACK_SERVER => 'Bontebok' }],
      ) {
        my ($server, $env) = @$row;
        my $name    = ($env->{PLACK_SERVER} ? 'PLACK_SERVER' : 'Plack::Runner') . ", $workers workers";
        my $program = program($runner, env => $env, args => [$workers, @$server]);
        my $parent  = $workers ? $program->pid : $$;
        like $program->get('/'), qr/\r\n\r\n$parent\z/, "$name: the response";
        is $program->stop, 7 << 8, "$name: the exit status";
        is $program->log, "goes on\nown\n", "$name: the program goes on";
        ok !-e $path, "$name: the file is removed";
    }
}

# ---- a program that forks ----

# Two servers share a socket of the program, which still has it after their end.
my $forks = <<'END';
use strict;
use IO::Socket::UNIX;
use Plack::Loader;
my ($path, $workers) = @ARGV;
my $socket = IO::Socket::UNIX->new(Local => $path, Listen => 8) or die "listen: $!";
my @servers = map {
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my @options = (listen_sock => $socket, max_workers => $workers, server_ready => sub { print STDERR "ready\n" });
        Plack::Loader->load('Bontebok', @options)->run(sub { [200, [], ['one of two']] });
        exit 3;
    }
    $pid;
} 1, 2;
$SIG{TERM} = sub { kill TERM => @servers };
for my $pid (@servers) {
    1 while waitpid($pid, 0) < 0;
    print STDERR "status $?\n";
}
my $client = IO::Socket::UNIX->new(Peer => $path) and accept my $peer, $socket and print STDERR "accepts\n";
unlink $path;
END
for my $workers (@workers) {
    my $name    = "a program that forks, $workers workers";
    my $program = program($forks, args => [$workers]);
    like $program->get('/'), qr/\r\n\r\none of two\z/, "$name: the response";
    ok $program->logs(qr/ready\nready\n/), "$name: both are ready";
    is $program->stop, 0, "$name: the end";
    is $program->log, "ready\nready\nstatus 768\nstatus 768\naccepts\n", "$name: what the program says";
}

done_testing;
