# The command plackup: it starts the server, the server answers, and ends at TERM. -w shows warnings of all modules.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use File::Temp       ();
use IO::Socket::UNIX ();
use POSIX            ();
use Test::More;
use TestServer ();

my $directory = File::Temp->newdir;
my $socket    = "$directory/sock";
my $running;    # the pid of the server

END { kill 'KILL', $running if $running }

subtest 'in deployment' => sub {
    my $pid = plackup(qw(-E deployment));
    is response('/'), "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n\r\n"
      . "GET /\n", 'the response';
    end_of($pid);
    is log_text(), '', 'STDERR';
};

# In development, plackup adds Lint, the page for exceptions, and the access log, and tells when the server is ready.
subtest 'in development' => sub {
    my $pid = plackup();
    like response('/x'), qr{\r\n\r\nGET /x\n\z}, 'the response';
    end_of($pid);
    like log_text(), qr{\A\S+ Accepting connections at \S+\n.* "GET /x HTTP/1\.1" 200 .*\n\z}, 'STDERR';
};

done_testing;

# Returns the pid when the server listens.
sub plackup {
    my (@options) = @_;
    write_file("$directory/app.psgi", <<'APP');
sub { [200, ['Content-Type' => 'text/plain'], ["$_[0]{REQUEST_METHOD} ", "$_[0]{PATH_INFO}\n"]] };
APP
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        open STDERR, '>', "$directory/log" or die "log: $!";
        exec $^X, '-w', '-S', 'plackup', '-s', 'Bontebok', '--max-workers', 0, @options, '--listen', $socket,
          "$directory/app.psgi";
        die "plackup: $!";
    }
    $running = $pid;
    TestServer::eventually { IO::Socket::UNIX->new(Peer => $socket) } or diag log_text();
    return $pid;
}

# The response to GET, without its date.
sub response {
    my ($target) = @_;
    my $client = IO::Socket::UNIX->new(Peer => $socket) or die "connect: $!";
    print {$client} "GET $target HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
    my $response = TestServer::read_all($client);
    $response =~ s/^Date: [^\r\n]*\r\n//m;
    return $response;
}

sub end_of {
    my ($pid) = @_;
    kill 'TERM', $pid;
    ok TestServer::eventually { waitpid($pid, POSIX::WNOHANG()) == $pid }, 'the process that was started ends';
    is $?, 0, 'exit status after TERM';
    undef $running;
    ok !-e $socket, 'the socket file is removed';
    return;
}

sub log_text {
    open my $file, '<', "$directory/log" or return '';
    local $/;
    return scalar(<$file>) // '';
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!";
    print {$file} $text;
    close $file or die "$path: $!";
    return;
}
