# Code of the application that runs while the binding reads its response: overloading, magic, signal handlers, DESTROY.
# No byte follows the end of a response, and no freed value is read.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Test::More;
use TestServer ();

{
    package Text;
    use overload '""' => sub { $_[0]{code}->() }, bool => sub { 1 };
    sub new { my ($class, $code) = @_; return bless { code => $code }, $class }
}
{
    package Tied;
    sub TIESCALAR { my ($class, $code) = @_; return bless { code => $code }, $class }
    sub FETCH { return $_[0]{code}->() }
}
{
    package Silent;
    our @ISA = ('Bontebok::Writer');
    sub DESTROY { }
}

use constant EVIL => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL";

my (@kept, $old);
my %apps = (
    'a part that closes the writer' => sub {
        my $writer = $_[0]->([200, []]);
        $writer->write(Text->new(sub { $writer->close; return EVIL }));
    },
    'a part whose signal handler closes the writer' => sub {
        my $writer = $_[0]->([200, []]);
        local $SIG{USR1} = sub { $writer->close };
        tie my $part, 'Tied', sub { kill USR1 => $$; return EVIL };
        $writer->write($part);
    },
    'a field that calls the responder' => sub {
        my ($respond) = @_;
        $respond->([200, ['X-A' => Text->new(sub { $respond->([201, ['Content-Length' => 0]])->close; return EVIL })]]);
    },
    'a status that frees the response' => sub {
        my ($respond) = @_;
        my $response = [undef, ['X-A' => 'a'], ['body']];
        tie $response->[0], 'Tied', sub { undef $response; my @junk = map { [1, 2, 3] } 1 .. 50; return 200 };
        $respond->($response);
    },
    'a writer of another class' => sub {
        my $writer = $_[0]->([200, []]);
        $writer->close;
        bless $writer, 'Silent';
        undef $writer;
        push @kept, 77777 for 1 .. 50;
    },
    'a writer that the application destroys' => sub {
        $old = $_[0]->([200, []]);
        eval { $old->DESTROY };
        $old->close;
    },
);

my $server = TestServer->start(
    sub {
        my ($env) = @_;
        my $app = $apps{ $env->{PATH_INFO} =~ s/\A\///r };
        return $app if $app;
        eval { $old->write('from an earlier request') } if $old;
        return [200, [], ['next ', grep { $_ != 77777 } @kept]];
    }
);

for my $name (sort keys %apps) {
    my $target = '/' . $name =~ s/ /%20/gr;
    my $all = $server->raw(
        "GET $target HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    unlike $all, qr/EVIL/, "$name: nothing follows the response";
    like $server->get('/next'), qr/\r\n\r\nnext \z/, "$name: the next request";
}

# ---- magic is called once ----

my $count = 0;
$server = TestServer->start(
    sub {
        tie my $status, 'Tied', sub { return 200 + $count++ };
        return [$status, [], []] if $_[0]{PATH_INFO} eq '/copy';
        my $response = [undef, [], []];
        tie $response->[0], 'Tied', sub { return 200 + $count++ };
        return $response;
    }
);
like $server->get('/'), qr/\AHTTP\/1\.1 200 /, 'a tied status';
like $server->get('/'), qr/\AHTTP\/1\.1 201 /, 'a tied status is read once';
is $server->stop, 0, 'exit status';

done_testing;
