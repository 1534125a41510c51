# Signals that a write may cause, PIPE and XFSZ, do not end the server. Commands that the application executes get the
# default actions again.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Config ();
use Test::More;
use TestServer ();

sub body_of { return $_[0] =~ /\r\n\r\n(.*)\z/s ? $1 : "no response: $_[0]" }

my @numbers = split ' ', $Config::Config{sig_num};
my @names   = split ' ', $Config::Config{sig_name};
my %number  = map { $names[$_] => $numbers[$_] } 0 .. $#names;

# The application sends itself the signal, or a command sends itself the signal: the result is $? of the command.
my $app = sub {
    my ($env) = @_;
    my ($place, $name) = $env->{PATH_INFO} =~ m{/(\w+)/(\w+)};
    if ($place eq 'server') {
        kill $name => $$;
        return [200, [], ['alive']];
    }
    my @command = ($^X, '-e', "kill $name => \$\$; exit 0");
    return [200, [], [system @command]] if $place eq 'system';
    open my $pipe, '-|', @command or die "open: $!";
    close $pipe;
    return [200, [], [$?]];
};

for my $name (grep { $number{$_} } qw(PIPE XFSZ)) {
    my $server = TestServer->start($app);
    is body_of($server->get("/server/$name")), 'alive',        "$name in the server";
    is body_of($server->get("/system/$name")), $number{$name}, "$name in a command of system";
    is body_of($server->get("/open/$name")),   $number{$name}, "$name in a command of open";
    is $server->stop, 0, "$name: the end";

    # A user who starts the server with an ignored signal wants it to be ignored in commands, too.
    local $SIG{$name} = 'IGNORE';
    $server = TestServer->start($app);
    is body_of($server->get("/server/$name")), 'alive', "$name is ignored before the start: the server";
    is body_of($server->get("/system/$name")), 0,       "$name is ignored before the start: a command";

    # A handler of the application stays.
    local $SIG{$name} = sub { $ENV{SEEN} = 'seen' };
    $server = TestServer->start(
        sub {
            kill $name => $$ if $_[0]{PATH_INFO} ne '/';
            return [200, [], [$ENV{SEEN} // 'nothing']];
        }
    );
    $server->get('/kill');
    is body_of($server->get('/')), 'seen', "$name has a handler before the start";
}

# A write to a closed pipe fails with EPIPE.
my $server = TestServer->start(
    sub {
        pipe my $read, my $write;
        close $read;
        return [200, [], [defined syswrite($write, 'x') ? 'written' : $!{EPIPE} ? 'EPIPE' : "$!"]];
    }
);
is body_of($server->get('/')), 'EPIPE', 'a write to a closed pipe';

# After the end, the program has its own actions again.
pipe my $read, my $write or die "pipe: $!";
my $child = fork // die "fork: $!";
if (!$child) {
    local $SIG{TERM} = sub { };
    $SIG{XFSZ} = 'IGNORE';
    my $before  = join ' ', map { $SIG{$_} // 'DEFAULT' } qw(TERM QUIT INT PIPE XFSZ);
    my $handler = Plack::Handler::Bontebok->new(
        max_workers => 0,
        listen       => [$server->path . '.other'],
        server_ready => sub { kill QUIT => $$ }
    );
    $SIG{QUIT} = sub { die "too early\n" };
    eval { $handler->run(sub { }) } or syswrite $write, $@;
    delete $SIG{QUIT};
    my $after = join ' ', map { $SIG{$_} // 'DEFAULT' } qw(TERM QUIT INT PIPE XFSZ);
    syswrite $write, $before eq $after ? 'same' : "before: $before, after: $after";
    POSIX::_exit(0);
}
close $write;
waitpid $child, 0;
is readline $read, 'same', 'the signals after the end';

done_testing;
