# hello.psgi with Content-Length, for servers that would send the response in chunks without it.
use strict;
use warnings;

sub { [200, ["Content-Type" => "text/plain", "X-App" => "hello", "Content-Length" => 14], ["Hello, World!\n"]] };
