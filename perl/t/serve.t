# The smallest request: the server answers, and ends when it is told to.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/lib";

use Test::More;
use TestServer ();

my $server = TestServer->start(sub { [200, ['Content-Type' => 'text/plain'], ["Hello, World!\n"]] });
my $response = $server->get('/');
$response =~ s/^Date: [^\r\n]*\r\n//m;
is $response, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\nConnection: close\r\n\r\n"
  . "Hello, World!\n", 'the response';
is $server->stop, 0, 'exit status after TERM';
is $server->log, '', 'the log';

done_testing;
