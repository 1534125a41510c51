# The life of a writer: the application may free it before its request ends, or keep it for longer.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Test::More;
use TestServer ();

my @kept;
my $server = TestServer->start(
    sub {
        my ($env) = @_;
        return [200, [], [join ' ', grep { !$kept[$_] } 0 .. $#kept]] if $env->{PATH_INFO} eq '/changed';
        return sub {
            my ($respond) = @_;
            my $writer = $respond->([200, []]);
            $writer->write('part');
            $writer->close;
            eval { $$writer = 8; print STDERR "changed\n" };
            undef $writer;
            push @kept, 1 .. 100;    # these take the memory of what was freed
        };
    }
);
like $server->get('/'), qr/\r\n\r\n4\r\npart\r\n0\r\n\r\n\z/, 'the response';
like $server->get('/changed'), qr/\r\n\r\n\z/, 'the end of the request changes no other value';
is $server->log, '', 'nobody can assign to a writer';

my $old;
$server = TestServer->start(
    sub {
        my ($env) = @_;
        my $text = $old ? eval { $old->write('more'); 'no exception' } || $@ : '';
        return [200, [], [$text]] if $env->{PATH_INFO} eq '/late';
        return sub { ($old = $_[0]->([200, []]))->close };
    }
);
$server->get('/');
like $server->get('/late'), qr/\r\n\r\nBontebok: the writer is closed at /, 'a writer that outlives its request';

done_testing;
