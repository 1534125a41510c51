# Responds with the length of the body. The path /calls responds with the number of POST requests so far.
use strict;
use warnings;

my $calls = 0;

sub {
    my ($env) = @_;
    return [200, ['Content-Type' => 'text/plain'], [$calls]] if $env->{PATH_INFO} eq '/calls';
    $calls++ if $env->{REQUEST_METHOD} eq 'POST';
    $env->{'psgi.input'}->read(my $body, $env->{CONTENT_LENGTH} // 0);
    return [200, ['Content-Type' => 'text/plain'], [length $body]];
}
