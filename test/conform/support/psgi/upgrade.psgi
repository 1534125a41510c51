# What APP in ../../upgrade_test.rb does, but the application never accepts an upgrade: PSGI has no way to do so.
use strict;
use warnings;

my %responses = (
    '/accept'  => sub { [426, ['Upgrade' => 'echo'], ['offer echo']] },
    '/unasked' => sub { [101, ['Upgrade' => 'echo'], []] },
);

sub {
    my ($env) = @_;
    my $response = $responses{ $env->{PATH_INFO} } // sub { [200, [], ['nil']] };
    return $response->();
}
