# Values that are no PSGI response: each is a 500 and a line in the log, and the connection stays usable.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Test::More;
use Table qw(check failed full);

package Array { use overload '@{}' => sub { ${ $_[0] } }, fallback => 1 }

package Code { use overload '&{}' => sub { ${ $_[0] } }, fallback => 1 }

package BadArray { use overload '@{}' => sub { 'no array' }, fallback => 1 }

package main;

sub app { my ($response) = @_; return sub { $response } }

my $kind   = qr/: Bontebok: the application must return an array reference or a code reference/;
my $short  = qr/: Bontebok: the response needs three elements/;
my $status = qr/: Bontebok: the status is no number from 100 to 999:(?: |\z)/;
my $fields = qr/: Bontebok: the headers are no array reference/;
my $body   = qr/: Bontebok: the body is neither an array reference nor a handle/;

my @refused = (
    ['undef',                 app(undef),                   $kind],
    ['an empty list',         sub { return },               $kind],
    ['a text',                app('200'),                   $kind],
    ['an empty text',         app(''),                      $kind],
    ['a number',              app(200),                     $kind],
    ['a hash reference',      app({ status => 200 }),       $kind],
    ['a scalar reference',    app(\'200'),                  $kind],
    ['a reference to one',    app(\\'200'),                 $kind],
    ['a glob',                app(*STDIN),                  $kind],
    ['a glob reference',      app(\*STDIN),                 $kind],
    ['an IO object',          app(*STDIN{IO}),              $kind],
    ['a pattern',             app(qr/a/),                   $kind],
    ['a reference to an lvalue', sub { \substr 'abc', 1 },     $kind],
    ['a blessed hash',        app(bless {}, 'Some'),        $kind],
    ['a blessed scalar',      app(bless \my $x, 'Some'),    $kind],
    ['overloading without an array', app(bless [], 'BadArray'),
        qr/: Overloaded dereference did not return a reference/],
    ['no elements',           app([]),                      $short],
    ['one element',           app([200]),                   $short],
    ['two elements',          app([200, []]),               $short],
    ['the status undef',      app([undef, [], []]),         $status],
    ['the status empty',      app(['', [], []]),            $status],
    ['the status as words',   app(['OK', [], []]),          qr/to 999: OK(?: at |\z)/],
    ['the status with words', app(['200 OK', [], []]),      $status],
    ['the status with a wide character', app(["\x{263a}", [], []]), $status],
    ['the status as array',   app([[], [], []]),            $status],
    ['the status 99',         app([99, [], []]),            qr/to 999: 99(?: at |\z)/],
    ['the status 1000',       app([1000, [], []]),          $status],
    ['the status 0',          app([0, [], []]),             $status],
    ['the status -200',       app([-200, [], []]),          $status],
    ['the status 200.5',      app([200.5, [], []]),         $status],
    ['the status 2**32+200',  app([2**32 + 200, [], []]),   $status],
    ['the status 2**64',      app([2**64, [], []]),         $status],
    ['the status ~0',         app([~0, [], []]),            $status],
    ['the status inf',        app(['inf', [], []]),         $status],
    ['the status nan',        app(['nan', [], []]),         $status],
    ['headers undef',         app([200, undef, []]),        $fields],
    ['headers as hash',       app([200, {}, []]),           $fields],
    ['headers as text',       app([200, 'X-A', []]),        $fields],
    ['an odd number',         app([200, ['X-A'], []]),      qr/: Bontebok: the headers have an odd number of elements/],
    ['the body undef',        app([200, [], undef]),        $body],
    ['the body as text',      app([200, [], 'a']),          $body],
    ['the body as number',    app([200, [], 1]),            $body],
    ['the body as hash',      app([200, [], {}]),           $body],
    ['the body as code',      app([200, [], sub { 'a' }]),  $body],
    ['the body as reference', app([200, [], \'a']),         $body],
    ['a body without methods', app([200, [], bless {}, 'Some']),
        qr/: Can't locate object method "getline" via package/],
);

my @accepted = (
    ['a blessed array',  app(bless [200, [], ['a']], 'Some')],
    ['a fourth element', app([200, [], ['a'], 'b'])],
    ['overloaded array', app(bless \[200, [], ['a']], 'Array')],
    ['overloaded code',  app(bless \sub { $_[0]->([200, [], ['a']]) }, 'Code')],
    ['blessed code',     app(bless sub { $_[0]->([200, [], ['a']]) }, 'Some')],
    ['blessed headers',  app([200, bless([], 'Some'), ['a']])],
    ['overloaded headers', app([200, bless(\[], 'Array'), ['a']])],
    ['a list',           sub { return (1, 2, [200, [], ['a']]) }],
    ['an lvalue',        do { my $kept = [200, [], ['a']]; my $code = sub :lvalue { $kept }; $code }],
);

# The same through a responder.
sub delayed { my ($app) = @_; return sub { my $response = $app->(); sub { $_[0]->($response) } } }
my @delayed = map { ["$_->[0], delayed", delayed($_->[1]),
    $_->[2]] } grep { $_->[2] != $kind && $_->[2] != $short } @refused;

check(
    (map { { name => $_->[0], app => $_->[1], want => failed(), log => $_->[2] } } @refused, @delayed),
    (map { { name => $_->[0], app => $_->[1], want => full('200 OK', '', 'a') } } @accepted),
);

done_testing;
