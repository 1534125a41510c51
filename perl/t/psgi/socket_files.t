# The files of unix sockets: the server replaces a file that no server uses, and removes its own file at the end. The
# file of another server stays.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Command          ();
use EnvServer        ();
use Fcntl            qw(:flock);
use IO::Socket::UNIX ();
use Test::More;

my $get = EnvServer::http('GET / HTTP/1.1');

# The application answers with its pid, and does more for some paths.
my $app = <<'END';
use POSIX ();
my $pid = $$;
sub {
    my ($path) = $_[0]{PATH_INFO} =~ m{/(\w*)};
    exit 3 if $path eq 'exit';
    chdir '/' if $path eq 'chdir';
    die 'a reason' if $path eq 'die';
    if ($path eq 'fork') { my $child = fork // die; $child ? waitpid $child, 0 : exit }
    if ($path eq 'forks') { my $child = fork // die; return [200, [], ['child']] if !$child; waitpid $child, 0 }
    if ($path eq 'throws') { my $child = fork // die; die 'child' if !$child; waitpid $child, 0 }
    if ($path eq 'returns') { system $^X, '-e', '1' }
    if ($path =~ /^(?:TERM|QUIT|INT)$/) {
        my $child = fork // die;
        if (!$child) { kill $path => $$; select undef, undef, undef, 20 }
        waitpid $child, 0;
        die 'no such end' if !$?;
    }
    [200, [], [$pid]];
};
END

# ---- the end ----

# Requests before the end, the signal (undef: the application ends the server), and the wait status.
my @ends = (
    ['TERM'                 => [],                    'TERM', 0],
    ['QUIT'                 => [],                    'QUIT', 0],
    ['INT'                  => [],                    'INT',  0],
    ['exit'                 => ['exit'],              undef,  3 << 8],
    ['a child that exits'   => ['fork'],              'TERM', 0],
    ['a child that returns' => ['forks'],             'TERM', 0],
    ['a child that dies'    => ['throws'],            'TERM', 0],
    ['children that get signals' => [qw(TERM QUIT INT)], 'TERM', 0],
    ['a command'            => ['returns'],           'TERM', 0],
    ['an exception'         => ['die'],               'TERM', 0],
    ['another directory'    => ['chdir'],             'TERM', 0],
);
for my $row (@ends) {
    my ($name, $requests, $signal, $expected) = @$row;
    my $directory = File::Temp->newdir;
    for my $path ("$directory/sock", 'sock') {
        my $server = Command->start(app => $app, args => ['--listen', $path], path => undef, chdir => "$directory",
            ready => sub { Command->serves_at("$directory/sock") });
        my $title = "$name, " . ($path eq 'sock' ? 'a relative path' : 'an absolute path');
        $server->{path} = "$directory/sock";
        for my $request (@$requests) {
            my $status = $request =~ /\A(?:die|exit)\z/ ? 500 : 200;
            like $server->get("/$request"), qr{\AHTTP/1\.1 $status }, "$title: the response";
            ok -S $server->path, "$title: the file stays after the request" if defined $signal;
        }
        my $answer = defined $signal ? $server->get('/') : '';
        like $answer, qr{\r\n\r\n@{[$server->pid]}\z}, "$title: the server answers" if defined $signal;
        is $server->stop($signal), $expected, "$title: the end";
        ok !-e "$directory/sock", "$title: the file is removed";
    }
}

# The program is wrong: the server has no file yet.
my ($status, $output) = Command->run({ app => 'die "at load"' }, '--listen', 'sock');
isnt $status, 0, 'an application that does not load';
like $output, qr/at load/, 'the message';

# ---- the start ----

my $directory = File::Temp->newdir;
my $path      = "$directory/sock";

sub start { return Command->start(app => $app, path => $path, @_) }

# A socket file without a server.
my $server = start();
undef $server;    # by KILL
ok -S $path, 'a file is left';
$server = start();
like $server->get('/'), qr{\r\n\r\n@{[$server->pid]}\z}, 'a new server has replaced the file';

# Two servers: the second one does not start, and does not remove the file.
($status, $output) = Command->run('--listen', $path);
is "$status $output", "2 bontebok: --listen $path: another server listens there\n", 'a second server';
like $server->get('/'), qr{\r\n\r\n@{[$server->pid]}\z}, 'the first server still answers';

# Another server replaces the file. The first server does not remove the new file.
my $replaced = sub {
    my ($how) = @_;
    my $first = start();
    my $inode = (stat $path)[1];
    $how->();
    my $other = IO::Socket::UNIX->new(Local => $path, Listen => 8) or die "listen: $!";
    is $first->stop, 0, 'the end of the first server';
    return $other;
};
$server->stop;
my $other = $replaced->(sub { unlink $path or die "unlink: $!" });
ok(IO::Socket::UNIX->new(Peer => $path), 'the file of another server stays');
undef $other;
unlink $path;
$other = $replaced->(sub { rename $path, "$path.old" or die "rename: $!" });
ok -S "$path.old", 'a renamed file stays';
undef $other;
unlink $path;

# A symlink or a plain file at the path stays, also if the symlink leads to the server's own file.
for my $make (sub { symlink "$path.old", $path }, sub { open my $file, '>', $path }) {
    my $first = start();
    rename $path, "$path.old" or die "rename: $!";
    $make->();
    is $first->stop, 0, 'the end';
    ok -l $path || -f $path, 'what is no socket stays';
    unlink $path;
}

# chmod and chown do not make the file another one.
$server = start();
chmod 0600, $path or die "chmod: $!";
$server->stop;
ok !-e $path, 'a file with another mode is removed';

# Somebody locks the directory.
open my $lock, '<', $directory or die "open: $!";
flock $lock, LOCK_EX or die "flock: $!";
$server = start();
like $server->get('/'), qr{\r\n\r\n@{[$server->pid]}\z}, 'a locked directory';
$server->stop;
close $lock;

# ---- while the server drains ----

# The connection attempt does not wait if the queue is full.
sub is_refused {
    socket(my $probe, Socket::AF_UNIX, Socket::SOCK_STREAM, 0) or die "socket: $!";
    $probe->blocking(0);
    return !connect($probe, Socket::pack_sockaddr_un($_[0])) && $!{ECONNREFUSED};
}

# The server ends when the response has been sent. Meanwhile, new clients are refused at once.
$server = start(app => 'sub { open my $gate, "<", "gate"; readline $gate; [200, [], ["late"]] }');
my $gate = $server->directory . '/gate';
POSIX::mkfifo($gate, 0600) or die "mkfifo: $!";
my $client = $server->connect;
syswrite $client, $get;
alarm TestServer::LIMIT();
open my $hold, '>', $gate or die "gate: $!";    # waits until the application opens it
alarm 0;
kill TERM => $server->pid;
ok TestServer::eventually { is_refused($path) }, 'new clients are refused';

# Another server starts. On some file systems, its file has the same inode number as the former one.
unlink $path or die "unlink: $!";
$other = IO::Socket::UNIX->new(Local => $path, Listen => 8) or die "listen: $!";
print {$hold} "go\n";
close $hold;
like TestServer::read_all($client), qr{\r\n\r\nlate\z}, 'the request is answered';
is $server->stop(undef), 0, 'the end';
ok(IO::Socket::UNIX->new(Peer => $path), 'the file of the next server stays');

done_testing;
