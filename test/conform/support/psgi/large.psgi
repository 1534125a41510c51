# Responds with 8 MiB to /large, and with a small body to any other path.
use strict;
use warnings;

my $large = [('x' x 65_536) x 128];

sub { [200, ['Content-Type' => 'text/plain'], $_[0]{PATH_INFO} eq '/large' ? $large : ['small']] }
