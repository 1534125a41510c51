# Threads that the application starts: they get no copy of the server, and cannot answer its requests.
use strict;
use warnings;

use Config;
use FindBin ();
use lib "$FindBin::Bin/../lib";

# Before Test::More, which then knows of them.
BEGIN { require threads if $Config{useithreads} }

use Test::More;
use TestServer ();
use Thread::Queue ();

$Config{useithreads} or plan skip_all => 'this Perl has no threads';

sub dies { my ($code) = @_; return eval { $code->(); 'nothing' } || $@ =~ s/ at .*//sr }
sub responds { my ($code) = @_; return sub { $code->($_[0]) } }

my ($thread, $queue);
my %apps = (
    result => sub { [200, [], [threads->create(sub { 'seven' })->join]] },
    exits  => sub { threads->create(sub { threads->exit })->join; [200, [], ['a']] },
    dies   => sub { threads->create(sub { no warnings; close STDERR; die "in the thread\n" })->join; [200, [], ['a']] },
    writer => sub { responds(sub {
        my $writer = $_[0]->([200, ['Content-Length', 4]]);
        threads->create(sub { dies(sub { $writer->write('no') }) })->join;
        $writer->write('main');
        $writer->close;
    }) },
    responder => sub { responds(sub {
        my ($respond) = @_;
        my $died = threads->create(sub { dies(sub { $respond->([200, [], ['thread']]) }) })->join;
        $respond->([200, [], [$died]]);
    }) },
    late => sub { responds(sub {
        my ($respond) = @_;
        $queue  = Thread::Queue->new;
        $thread = threads->create(sub { $queue->dequeue; dies(sub { $respond->([200, [], ['thread']]) }) });
        $respond->([200, [], ['a']]);
    }) },
    next => sub { $queue->enqueue(1); [200, [], [$thread->join]] },
);
my $server = TestServer->start(sub { $apps{ substr $_[0]{PATH_INFO}, 1 }->(@_) });
my $refused = 'Bontebok: the responder belongs to another thread';
my @rows = (
    [result => 'seven'], [exits => 'a'], [dies => 'a'], [writer => 'main'], [responder => $refused], [late => 'a'],
    [next => $refused],
);
like $server->get("/$_->[0]"), qr/\A[^\r]* 200 OK\r\n.*\r\n\r\n\Q$_->[1]\E\z/s, "threads: $_->[0]" for @rows;
ok -S $server->path, 'the socket file stays';
is $server->stop, 0, 'the exit status';
is $server->log, '', 'the log';

done_testing;
