# Responses whose body is an array: what becomes of each kind of Perl value in the fields and in the body.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Test::More;
use Table qw(check full failed);

package Text { use overload '""' => sub { ${ $_[0] } }, fallback => 1 }

package Dies { use overload '""' => sub { die "no text\n" }, fallback => 1 }

package Clears { use overload '""' => sub { my ($self) = @_; @{ $$self } = (); 'cleared' }, fallback => 1 }

package Tied {
    sub TIESCALAR { my ($class, $value) = @_; return bless \$value, $class }
    sub FETCH     { return ${ $_[0] } }
}

package TiedArray {
    sub TIEARRAY  { my ($class, @values) = @_; return bless \@values, $class }
    sub FETCHSIZE { return scalar @{ $_[0] } }
    sub FETCH     { return $_[0][ $_[1] ] }
}

package main;

sub text { my ($text) = @_; return bless \$text, 'Text' }
sub flagged { my ($text) = @_; utf8::upgrade($text); return $text }

sub tied_value {
    tie my $value, 'Tied', @_;
    return \$value;
}

sub tied_array {
    tie my @values, 'TiedArray', @_;
    return \@values;
}

# An object whose conversion empties the headers.
sub clears {
    my @headers;
    @headers = ('X-A', bless(\\@headers, 'Clears'), 'X-B', 'b');
    return \@headers;
}

sub magical {
    'abc-def' =~ /(\w+)-(\w+)/ or die;
    my $response = [200, ['X-A', undef], [undef, '!']];
    local $_;
    $response->[1][1] = \$1;
    return [200, ['X-A', "$1"], ["$2", substr('xyz', 1, 1)]];
}

sub at { my ($fields, $body) = @_; return full('200 OK', join('', map { "$_\r\n" } @$fields), $body) }
sub failed_head { my $head = failed(); $head =~ s/Content-Length: .*//s; return "${head}Connection: close\r\n\r\n" }
sub app { my (@response) = @_; return sub { [@response] } }

my $long = 'x' x 100_000;
my @rows = (
    ['an empty array',                 app(200, [], []),                       at([], '')],
    ['several parts',                  app(200, [], [qw(a b c)]),              at([], 'abc')],
    ['more parts than one send takes', app(200, [], [('ab') x 200]),           at([], 'ab' x 200)],
    ['a large part',                   app(200, [], [$long, $long]),           at([], $long . $long)],
    ['undef in the body',              app(200, [], ['a', undef, 'b']),        at([], 'ab')],
    ['only undef',                     app(200, [], [undef]),                  at([], '')],
    ['an array with holes',            sub { my @b; $b[3] = 'd'; [200, [], \@b] }, at([], 'd')],
    ['numbers',                        app(200, ['X-A', 1.5], [1, 2.5, -3]),   at(['X-A: 1.5'], '12.5-3')],
    ['undef in a field',               app(200, ['X-A', undef], ['a']),        at(['X-A: '], 'a')],
    ['an object in a field',           app(200, ['X-A', text('b')], ['a']),    at(['X-A: b'], 'a')],
    ['an object as a name',            app(200, [text('X-O'), 'b'], ['a']),    at(['X-O: b'], 'a')],
    ['an object for each',             app(200, [text('X-O'), text('b')], []), at(['X-O: b'], '')],
    ['an object in the body',          app(200, [], ['a', text('b')]),         at([], 'ab')],
    ['flagged text',                   app(200, ['X-A', flagged("\xe9")], [flagged("\xfc")]), at(["X-A: \xe9"],
        "\xfc")],
    ['a flagged name',                 app(200, [flagged('X-A'), 'b'], []),    at(['X-A: b'], '')],
    ['a flagged object',               app(200, [], [text(flagged("\xfc"))]),  at([], "\xfc")],
    ['tied values',  sub { [200, ['X-A', ${ tied_value('b') }], [${ tied_value('c') }]] }, at(['X-A: b'], 'c')],
    ['tied elements', sub { tie my @b, 'TiedArray', 'a', undef, flagged("\xfc"); [200, [], \@b] }, at([], "a\xfc")],
    ['tied headers', app(200, tied_array('X-A', 'b'), ['c']), at(['X-A: b'], 'c')],
    ['a tied response', sub { tied_array(200, ['X-A', 'b'], ['c']) }, at(['X-A: b'], 'c')],
    ['magical values', \&magical, at(['X-A: abc'], 'defy')],
    ['headers that a conversion empties', sub { [200, clears(), ['a']] }, at(['X-A: cleared'], 'a')],
    ['the same field twice', app(200, ['Set-Cookie', 'a', 'Set-Cookie', 'b'], []), at(['Set-Cookie: a',
        'Set-Cookie: b'], '')],
    ['the status as text', app('404', [], ['a']), full('404 Not Found', '', 'a')],
    ['a tied status',      sub { tie my @r, 'TiedArray', 201, [], ['a']; \@r }, full('201 Created', '', 'a')],
    ['a status without a name', app(299, [], ['a']), full('299 ', '', 'a')],
    ['status 204', app(204, [], []),      full('204 No Content',   '')],
    ['204 with a body', app(204, [], ['a']), full('204 No Content', '')],
    ['304 with a body', app(304, [], ['a']), full('304 Not Modified', '')],
    ['Content-Length of the application', app(200, ['Content-Length', 3], ['abc']),
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc"],
);

# Responses that are refused.
my @refused = (
    ['a wide character in a field', app(200, ['X-A', "\x{263a}"], ['a']),
        qr/: Bontebok: the field X-A has a wide char/],
    ['a wide character in a name',  app(200, ["X-\x{263a}", 'a'], ['a']), qr/: Bontebok: a field name has a wide/],
    ['a wide character in the body', app(200, [], ['a', "\x{263a}"]), qr/: Bontebok: the body has a wide character/],
    ['a wide object in the body', app(200, [], [text("\x{263a}")]), qr/: Bontebok: the body has a wide character/],
    ['an object that has no text', app(200, [], [bless [], 'Dies']), qr/: no text$/],
    ['a field that has no text',   app(200, ['X-A', bless [], 'Dies'], []), qr/: no text$/],
    ['LF in a value',  app(200, ['X-A', "a\nX-B: b"], ['a']), qr/: Bontebok: the field "X-A" has an invalid value/],
    ['CR in a value',  app(200, ['X-A', "a\rb"], ['a']), qr/: Bontebok: the field "X-A" has an invalid value/],
    ['NUL in a value', app(200, ['X-A', "a\0b"], ['a']), qr/: Bontebok: the field "X-A" has an invalid value/],
    ['CR in a name',   app(200, ["X-\rA", 'a'], ['a']), qr/: Bontebok: the field "X-\\rA" has an invalid name/],
    ['NUL in a name',  app(200, ["X-\0A", 'a'], ['a']), qr/: Bontebok: the field "X-\\0A" has an invalid name/],
    ['a space in a name', app(200, ['X A', 'a'], ['a']), qr/: Bontebok: the field "X A" has an invalid name/],
    ['an empty name',  app(200, ['', 'a'], ['a']), qr/: Bontebok: the field "" has an invalid name/],
    ['undef as a name', app(200, [undef, 'a'], ['a']), qr/: Bontebok: the field "" has an invalid name/],
    ['Content-Length that is no number', app(200, ['Content-Length', 'x'], ['a']), qr/"Content-Length" has an invalid/],
);

check(
    (map { { name => $_->[0], app => $_->[1], want => $_->[2] } } @rows),
    (map { { name => $_->[0], app => $_->[1], want => failed(), log => $_->[2] } } @refused),
    { name => 'HEAD', method => 'HEAD', app => app(200, ['X-A', 'b'], ['abc']),
        want => "HTTP/1.1 200 OK\r\nX-A: b\r\nConnection: close\r\n\r\n" },
    { name => 'HEAD of a wide character', method => 'HEAD', app => app(200, [], ["\x{263a}"]),
        want => failed_head(), log => qr/wide character/ },
    { name => 'a Content-Length that is too long', app => app(200, ['Content-Length', 9], ['abc']), ends => 1,
        want => "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nabc",
            log => qr/: the body is shorter than/ },
    { name => 'a Content-Length that is too short', app => app(200, ['Content-Length', 2], ['abc']), ends => 1,
        want => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab" },
);

done_testing;
