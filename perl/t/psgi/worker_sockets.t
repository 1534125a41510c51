# Sockets of a server with workers: a socket of the caller, and the files of its own sockets.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok         ();
use Command          ();
use IO::Socket::UNIX ();
use POSIX            ();
use Test::More;

use sigtrap handler => sub { exit 1 }, qw(HUP INT TERM);    # ends the servers, too

Bontebok::Shared::is_possible() or plan skip_all => 'this system has no workers';

my $directory = File::Temp->newdir;
my $path      = "$directory/sock";
my $two       = ['--max-workers', 2];
my $app       = 'sub { exit if $_[0]{PATH_INFO} eq "/exit"; [200, [], [join " ", getppid, $$]] }';

sub start { return Command->start(app => $app, path => $path, args => $two, group => 1, @_) }
sub answers { my ($server, $name) = @_; return like $server->get('/'), qr/\r\n\r\n@{[$server->pid]} [0-9]+\z/, $name }

# ---- a socket of the caller ----

my $socket   = IO::Socket::UNIX->new(Local => $path, Listen => 8) or die "listen: $!";
my @keys     = qw(SERVER_NAME SERVER_PORT psgi.multiprocess);
my @given    = (listen_sock => $socket, max_workers => 2);
my $server   = TestServer->start(sub { [200, [], [join ' ', @{ $_[0] }{@keys}]] }, @given);
my $expected = qr/\r\n\r\nlocalhost \Q$path\E 1\z/;
like(Command->raw_at($path, "GET / HTTP/1.0\r\n\r\n"), $expected, 'listen_sock: the response');
is $server->stop, 0, 'listen_sock: the end';

# In this process: the server returns, and the socket belongs to the caller again.
my $ready = sub { kill TERM => $$ };
Plack::Handler::Bontebok->new(@given, server_ready => $ready)->run(sub { });
my $client = IO::Socket::UNIX->new(Peer => $path) or die "connect: $!";
ok accept(my $peer, $socket), 'listen_sock: the caller can use it afterwards';
is waitpid(-1, POSIX::WNOHANG()), -1, 'listen_sock: no worker is left';
close $_ for $client, $peer, $socket;

# ---- files ----

$server = start();
answers($server, 'a file without a server is replaced');
is_deeply [Command->run('--listen', $path, @$two)], [2, "bontebok: --listen $path: another server listens there\n"],
  'a second server';
answers($server, 'the first server still answers');
undef $server;    # by KILL
ok -S $path, 'a file is left';
$server = start();
answers($server, 'the next server has replaced it');

# A worker that ends leaves the file.
$server->get('/exit');
TestServer::eventually { $server->log =~ m{ error ([0-9]+) - - GET /exit: } && !kill 0, $1 };
ok -S $path, 'the file stays when a worker ends';
answers($server, 'another worker answers');
is $server->stop, 0, 'the end';
ok !-e $path, 'the file is removed';

# The next server takes the path while the former one finishes a request.
$server = start(app => 'sub { open my $gate, "<", "gate"; readline $gate; [200, [], ["late"]] }');
my $gate = $server->directory . '/gate';
POSIX::mkfifo($gate, 0600) or die "mkfifo: $!";
$client = $server->connect;
syswrite $client, "GET / HTTP/1.0\r\n\r\n";
alarm TestServer::LIMIT();
open my $hold, '>', $gate or die "gate: $!";    # waits until the application opens it
alarm 0;
kill TERM => $server->pid;
ok TestServer::eventually { !-e $path }, 'the file is removed at once';
my $next = start();
answers($next, 'the next server');
print {$hold} "go\n";
close $hold;
like TestServer::read_all($client), qr{\r\n\r\nlate\z}, 'the former server answers';
is $server->stop(undef), 0, 'the end of the former server';
answers($next, 'the next server keeps the file');
is $next->stop, 0, 'the end of the next server';
ok !-e $path, 'its file is removed';

done_testing;
