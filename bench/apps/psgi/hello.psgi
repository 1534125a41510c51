# The application of bench/psgi: each call returns a new triplet with two fields and 14 bytes.
use strict;
use warnings;

sub { [200, ["Content-Type" => "text/plain", "X-App" => "hello"], ["Hello, World!\n"]] };
