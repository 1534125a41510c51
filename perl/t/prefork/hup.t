# HUP: all workers are replaced, and no client notices it.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use PreforkServer;
use Test::More;

# ---- requests ----

my $server = PreforkServer->start(
    routes => q{'/sysread' => sub { [200, [], [sysread(reach('gate'), my $bytes, 1) // "$!", " $$"]] },}
);
my @old    = $server->serving(2);
my $kept   = $server->connect;

# The body of the next response on the kept connection.
sub ask {
    local $SIG{PIPE} = 'IGNORE';
    syswrite $kept, "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
    my $response = '';
    sysread $kept, $response, 4096, length $response or return 'the end' while $response !~ /\r\n\r\n\d+\z/;
    $kept = $server->connect if $response =~ /^Connection: close\r$/m;
    return ($response =~ /(\d+)\z/)[0];
}
like ask(), qr/\A(?:$old[0]|$old[1])\z/, 'a kept connection';
my $client  = $server->send_get('/sysread');
my $process = $server->gate->next;
my $busy    = $process->pid;
my ($idle)  = grep { $_ != $busy } @old;
kill 'HUP', $server->pid;
my @bodies;
ok $server->lose([$idle], sub { push @bodies, $server->body('/'), ask() }), 'HUP: an idle worker is replaced';
is_deeply [grep { !/\A\d+\z/ } @bodies], [], 'HUP: each request is answered, also on a kept connection';
ok TestServer::eventually { $server->workers == 3 }, 'HUP: a worker with a request';
push @bodies, $server->serving(2), map { $server->body('/') } 1 .. 10;
is scalar(grep { $_ eq $busy } @bodies), 0, 'HUP: it gets no other request';
$process->let_go;
is PreforkServer::body_of($client), "0 $busy", 'HUP: it finishes its request, and no system call was interrupted';
ok $server->lose(\@old), 'HUP: then it ends';
is_deeply [$server->workers], [$server->serving(2)], 'HUP: one worker of each number';

# HUP to all processes, as a terminal sends it.
for my $to ('the master', 'all processes') {
    my @before = $server->serving(2);
    my ($most, @got) = (0);
    for (1 .. 5) {
        $to eq 'the master' ? kill('HUP', $server->pid) : $server->signal_group('HUP');
        push @got, $server->body('/');
        my $count = $server->workers;
        $most = $count if $count > $most;
    }
    cmp_ok $most, '<=', 5, "HUP many times to $to: at most two processes for each number, and one";
    ok $server->lose(\@before, sub { push @got, $server->body('/') }), "HUP many times to $to: workers are replaced";
    is_deeply [grep { !/\A\d+\z/ } @got], [], "HUP many times to $to: each request is answered";
    ok TestServer::eventually { $server->workers == 2 }, "HUP many times to $to: one worker of each number in the end";
}
is $server->log, '', 'HUP: nothing in the log';
close $kept;
is $server->stop, 0, 'the exit status';

# ---- while workers load ----

$server = PreforkServer->start(workers => 1, load => q{wait_at('load')}, args => [qw(-L Delayed)], ready => sub { 1 });
my $first = $server->load->next;
kill 'HUP', $server->pid for 1 .. 3;
$first->let_go;
my $second = $server->load->next;
is $server->body('/'), $first->pid, 'HUP while a worker loads: it serves when it is ready';
kill 'HUP', $server->pid for 1 .. 3;
$second->let_go;
ok $server->lose([$first->pid]), 'HUP while a worker loads: it is replaced by a newer one';
my $third = $server->load->next;
is $server->body('/'), $second->pid, 'HUP while the next one loads';
is scalar $server->workers, 2, 'HUP while the next one loads: no further process';

# The application of this worker is another one.
open my $file, '>', $server->directory . '/app.psgi' or die "app.psgi: $!";
print {$file} 'sub { [200, [], ["new"]] }';
close $file or die "app.psgi: $!";
kill 'HUP', $server->pid;
$third->let_go;
ok $server->lose([$third->pid]), 'HUP: the last one';
is $server->body('/'), 'new', 'HUP with -L Delayed: the application is read again';
is $server->log, '', 'nothing in the log';
is $server->stop, 0, 'the exit status';
ok $server->is_gone, 'no process is left';

done_testing;
