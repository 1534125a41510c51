# Responds with the path, and the digest of the body of the request.
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);

sub {
    my ($env) = @_;
    $env->{'psgi.input'}->read(my $body, $env->{CONTENT_LENGTH} // 0);
    return [200, ['Content-Type' => 'text/plain'], [$env->{PATH_INFO}, sha256_hex($body)]];
}
