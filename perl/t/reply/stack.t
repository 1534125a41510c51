# Perl's stack moves when it grows. The responder and the writer return to code whose stack has moved.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Test::More;
use TestServer ();

# Returns the number of its arguments. They need room on the stack.
sub count { return scalar @_ }

{
    package Body;
    sub new { return bless { parts => ['a', 'b'], grown => $_[1] }, $_[0] }

    sub getline {
        my ($self) = @_;
        main::count(1 .. $self->{grown});
        return shift @{ $self->{parts} };
    }
    sub close { return 1 }
}

for my $grown (10, 1_000, 100_000) {
    my $server = TestServer->start(
        sub {
            return sub {
                my ($respond) = @_;
                my @returned = (1, $respond->([200, [], Body->new($grown)]), 2);
                print STDERR 'returned ', join(' ', map { $_ // 'undef' } @returned), "\n";
            };
        }
    );
    like $server->get('/'), qr/\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n\z/, "the body, with $grown elements on the stack";
    is $server->log, "returned 1 undef 2\n", 'what the responder returns';
}

done_testing;
