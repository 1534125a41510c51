# Plack's loaders (plackup -L and -R): Delayed, Shotgun and Restarter.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok ();
use Command  ();
use Test::More;

use sigtrap handler => sub { exit 1 }, qw(HUP INT TERM);    # ends the servers, too

my @workers = Bontebok::Shared::is_possible() ? (0, 2) : (0);

sub start {
    my ($app, $workers, @args) = @_;
    return Command->start(app => $app, group => 1, args => ['--max-workers', $workers, @args]);
}

sub body { my ($server) = @_; return $server->get('/') =~ /\A[^ ]+ 200 .*\r\n\r\n(.*)\z/s ? $1 : 'no 200' }

# ---- Delayed ----

# The application is made once, when the server has the sockets, and before it tells that it is ready.
my $server = start('print STDERR "made\n"; sub { [200, [], ["app"]] }', 0, qw(-L Delayed -E development));
is body($server), 'app', 'Delayed: the response';
like $server->log, qr/\Amade\nPlack::Handler::Bontebok: Accepting connections at [^\n]+\n[^\n]+ 200 [^\n]+\n\z/,
  'Delayed: the application is made before server_ready';
is $server->stop, 0, 'Delayed: the end';

# An application that cannot be made.
my $directory = File::Temp->newdir;
for my $row (
    ['die "broken\n"' => qr/[1-9][0-9]*/, qr/Error while loading [^\n]+: broken\n/],
    ['exit 5'         => qr/5/,           qr//],
  ) {
    my ($app, $expected, $message) = @$row;
    my ($status, $output) = Command->run({ app => $app }, '--listen', "$directory/sock", qw(-L Delayed));
    like $status, qr/\A$expected\z/, "$app: the exit status";
    like $output, qr/\A$message\z/, "$app: the message";
    ok !-e "$directory/sock", "$app: the file is removed";
}

# ---- Shotgun ----

# Each request is served by a new process, which makes the application.
for my $workers (@workers) {
    my $name = "Shotgun, $workers workers";
    my $app  = 'my $made = $$; sub { [200, [], [$made == $$ ? $$ : "another process"]] }';
    $server = start($app, $workers, qw(-L Shotgun));
    my @pids = map { body($server) } 1 .. 3;
    is scalar(grep { /\A[0-9]+\z/ } @pids), 3, "$name: the responses" or diag "@pids";
    is scalar(keys %{ { map { $_ => 1 } @pids } }), 3, "$name: the processes";
    is $server->stop, 0, "$name: the end";
    is $server->log, '', "$name: the log";
    ok !-e $server->path, "$name: the file is removed";
}

# ---- Restarter ----

# The server is a child process of plackup, which ends it with TERM, and forks the next one when a file has changed.
# plackup compares the files each 2 seconds, beginning at some time. Before that, it loads modules: a signal that comes
# meanwhile may end in a panic of perl.
$server = start('sub { [200, [], ["old"]] }', $workers[-1], '-R', $directory);
is body($server), 'old', 'Restarter: the response';
my $polls = 0;
sub change {
    my $path = $server->directory . '/app.psgi';
    open my $file, '>', "$path.new" or die "app.psgi: $!";
    print {$file} 'sub { [200, [], ["new"]] }', "\n" x $polls;
    close $file or die "app.psgi: $!";
    return rename "$path.new", $path;
}
TestServer::eventually { change() if $polls++ % 100 == 0; $server->log =~ /^Successfully killed/m };
ok TestServer::eventually { (eval { body($server) } // '') eq 'new' }, 'Restarter: a new server';
is $server->stop, 0, 'Restarter: the end';
like $server->log, qr/^Killing the existing server[^\n]+\n\z/m, 'Restarter: the end of the log';
unlike $server->log, qr/ - - /, 'Restarter: no server has written into the log';
ok TestServer::eventually { $server->is_gone }, 'Restarter: no process is left';
ok !-e $server->path, 'Restarter: the file is removed';

done_testing;
