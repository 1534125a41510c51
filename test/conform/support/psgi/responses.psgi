# What APPLICATION in ../../responses_test.rb does: the path selects the response.
use strict;
use warnings;

package Parts {
    sub new     { my ($class, @list) = @_; return bless [@list], $class }
    sub getline { return shift @{ $_[0] } }
    sub close   { print STDERR "closed\n"; return }    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
}

my @hops = ('Connection' => 'x-hop', 'Keep-Alive' => 'timeout=5', 'Upgrade' => 'x', 'TE' => 'x', 'Trailer' => 'x',
    'Proxy-Connection' => 'x', 'X-Kept' => 'y');

my %responses = (
    '/array'   => sub { [200, ['Content-Type' => 'text/plain'], ['one', 'two']] },
    '/empty'   => sub { [200, [], []] },
    '/each'    => sub { [200, [], Parts->new('one', '', 'two', '')] },
    '/nothing' => sub { [200, [], Parts->new] },
    '/204'     => sub { [204, [], Parts->new] },
    '/304'     => sub { [304, ['ETag' => '"a"', 'Content-Length' => 6], Parts->new('one', 'two')] },
    '/length'  => sub { [200, ['Content-Length' => 6], Parts->new('one', 'two')] },
    '/short'   => sub { [200, ['Content-Length' => 8], Parts->new('one', 'two')] },
    '/long'    => sub { [200, ['Content-Length' => 4], Parts->new('one', 'two')] },
    '/coded'   => sub { [200, ['Transfer-Encoding' => 'chunked'], Parts->new("3\r\none\r\n", "0\r\n\r\n")] },
    '/close'   => sub { [200, ['Connection' => 'close'], ['one']] },
    '/hops'    => sub { [200, [@hops], ['one']] },
    '/own'     => sub { [200, ['Date' => 'Sun, 06 Nov 1994 08:49:37 GMT', 'Server' => 'mine'], ['one']] },
    '/cr'      => sub { [200, ['x-bad' => "a\rset-cookie: b"], ['secret']] },
    '/nul'     => sub { [200, ['x-bad' => "a\0"], ['secret']] },
    '/name'    => sub { [200, ['x bad' => 'a'], ['secret']] },
    '/lines'   => sub { [200, ['Set-Cookie' => 'a=1', 'Set-Cookie' => 'b=2'], []] },
    '/many'    => sub { [200, [], [map { "$_\n" } 0 .. 49_999]] },
);

sub { $responses{ $_[0]{PATH_INFO} }->() }
