# Responds with the body of the request.
use strict;
use warnings;

sub {
    my ($env) = @_;
    $env->{'psgi.input'}->read(my $body, $env->{CONTENT_LENGTH} // 0);
    return [200, ['Content-Type' => 'text/plain'], [$body]];
}
