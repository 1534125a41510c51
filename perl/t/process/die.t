# Exceptions of the application: a 500, a line in the log with the method and the path, and the worker goes on. Also
# other ways to leave a sub, and what an application may look at: caller, wantarray, $@ and its relatives.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Carp ();
use Test::More;
use Table qw(check failed full);

package Text   { use overload '""' => sub { ${ $_[0] } }, fallback => 1 }
package False  { use overload 'bool' => sub { 0 }, '""' => sub { 'false' }, fallback => 1 }
package Deaf   { use overload '""' => sub { die "no text\n" }, 'bool' => sub { die "no truth\n" } }
package Killer { sub DESTROY { die "killed\n" } }
package Quiet  { sub DESTROY { eval { 1 } } }

package main;

sub app { my ($text) = @_; return sub { [200, [], [$text]] } }
sub deep { no warnings 'recursion'; my ($depth) = @_; return $depth ? deep($depth - 1) : die "deep\n" }
sub plain { [200, [], ['plain']] }
sub in_sort { my @sorted = sort { die "in sort\n" } 1, 2; return @sorted }

my $shown = qr/: an exception that cannot be shown, of Deaf$/;
my @dying = (
    ['text',            sub { die "broken\n" },                 qr/: broken$/],
    ['text with a line', sub { die 'broken' },                  qr/: broken at \S+ line \d+\.$/],
    ['several lines',   sub { die "one\ntwo\n" },               qr/: one$/],
    ['wide text',       sub { die "\x{263a}\n" },               qr/: \xe2\x98\xba$/],
    ['control bytes',   sub { die "a\e[1m\0b\n" },              qr/: a\\x1b\[1m\\x00b$/],
    ['an object',       sub { die bless \(my $x = 'obj'), 'Text' }, qr/: obj$/],
    ['a plain object',  sub { die bless {}, 'Plain' },          qr/: Plain=HASH\(0x/],
    ['a hash',          sub { die { code => 1 } },              qr/: HASH\(0x/],
    ['a false object',  sub { die bless [], 'False' },          qr/: false$/],
    ['an object without text', sub { die bless [], 'Deaf' },    $shown],
    ['undef',           sub { no warnings; die undef },                      qr/: Died at /],
    ['empty',           sub { die '' },                         qr/: Died at /],
    ['nothing',         sub { no warnings; undef $@; die },                  qr/: Died at /],
    ['zero',            sub { die 0 },                          qr/: 0 at /],
    ['zero and newline', sub { die "0\n" },                     qr/: 0$/],
    ['again',           sub { eval { die "inner\n" }; die },    qr/: inner$/],
    ['croak',           sub { Carp::croak('croaked') },         qr/: croaked at /],
    ['confess',         sub { Carp::confess('confessed') },     qr/: confessed at /],
    ['a missing method', sub { Some->missing },                 qr/: Can't locate object method "missing"/],
    ['undef as code',   sub { my $code; $code->() },            qr/: Can't use .* as a subroutine ref/],
    ['division by zero', sub { 1 / ($_[0]{nothing} // 0) },     qr/: Illegal division by zero/],
    ['a syntax error',  sub { eval '1 +' // die $@ },        qr/: syntax error at/],
    ['a string eval',   sub { eval q{die "in eval\n"} or die $@ }, qr/: in eval$/],
    ['a failing require', sub { require Some::Missing },        qr{: Can't locate Some/Missing.pm}],
    ['a sort block',    sub { [in_sort()] },                    qr/: in sort$/],
    ['a substitution',  sub { (my $x = 'a') =~ s/a/die "in s\n"/e; $x }, qr/: in s$/],
    ['map and grep',    sub { [map { grep { die "in grep\n" } 1 } 1] }, qr/: in grep$/],
    ['a deep recursion', sub { deep(20_000) }, qr/: deep$/],
    ['local values',    sub { local ($_, $/, $,, $\) = ('a') x 4; local $@ = 'b'; die "local\n" }, qr/: local$/],
    ['a DESTROY with eval', sub { my $object = bless [], 'Quiet'; die "kept\n" }, qr/: kept$/],
    ['__DIE__',         sub { local $SIG{__DIE__} = sub { die "changed: $_[0]" }; die "it\n" }, qr/: changed: it$/],
    ['__WARN__',        sub { local $SIG{__WARN__} = sub { die "warned: $_[0]" }; warn "it\n" }, qr/: warned: it$/],
    ['last',            sub { no warnings; last },              qr/: Can't "last" outside a loop block/],
    ['next',            sub { no warnings; next },              qr/: Can't "next" outside a loop block/],
    ['redo',            sub { no warnings; redo },              qr/: Can't "redo" outside a loop block/],
    ['last with a label', sub { no warnings; last LOOP },       qr/: Label not found for "last LOOP"/],
    ['goto a label',    sub { goto LOOP },                      qr/: Can't find label LOOP/],
    ['die in a response object', sub { [200, [], [bless [], 'Deaf']] }, qr/: no text$/],
);
my @living = (
    ['return',          sub { return [200, [], ['a']]; die },   'a'],
    ['return from a loop', sub { for (1, 2) { while (1) { return [200, [], ['a']] } } }, 'a'],
    ['return from eval', sub { my $r = eval { return [200, [], ['a']] }; $r }, 'a'],
    ['goto a sub',      sub { goto &plain },                    'plain'],
    ['goto a code reference', sub { my $code = \&plain; goto $code }, 'plain'],
    ['goto within',     sub { my $n = 0; AGAIN: $n++; goto AGAIN if $n < 3; [200, [], [$n]] }, '3'],
    ['wantarray',       sub { [200, [], [defined wantarray ? wantarray ? 'list' : 'scalar' : 'void']] }, 'scalar'],
    ['the arguments',   sub { [200, [], [scalar @_, ref $_[0]]] }, '1HASH'],
    ['assigning to the arguments', sub { $_[0] = undef; @_ = (); [200, [], ['a']] }, 'a'],
    ['caller',          sub { my @caller = caller 0; [200, [], [$caller[3]]] }, 'main::__ANON__'],
    ['callers',         sub { my ($n) = (0); $n++ while caller $n; [200, [], [$n > 1 ? 'several' : 'few']] },
        'several'],
    ['a trace',         sub { eval { Carp::confess('m') }; [200, [],
        [$@ =~ /^m at .*main::__ANON__\('?HASH/s ? 'trace' : $@]] }, 'trace'],
    ['$_ is kept',      sub { $_ = 'changed'; [200, [], ['a']] }, 'a'],
    ['$@ is empty',     sub { [200, [], ["<$@>"]] },            '<>'],
    ['separators',      sub { [200, [], [join ',', map { defined($_) ? unpack('H*', $_) : 'undef' } $/, $,, $\]] },
        '0a,undef,undef'],
    ['$? is kept',      sub { $? = 3; [200, [], ['a']] },       'a'],
    ['$? is still kept', sub { [200, [], [$?]] },               '3'],
    ['a warning handler', sub { my $seen = ''; local $SIG{__WARN__} = sub { $seen .= $_[0] }; warn "w\n"; [200, [],
        [$seen]] }, "w\n"],
);

check(
    (map { { name => $_->[0], app => $_->[1], want => failed(), log => $_->[2] } } @dying),
    (map { { name => $_->[0], app => $_->[1], want => full('200 OK', '', $_->[2]) } } @living),
);

# The label in the log is the method and the path, and an exception in DESTROY changes no response.
my $server = TestServer->start(sub {
    my ($env) = @_;
    die "broken\n" if $env->{REQUEST_METHOD} eq 'POST';
    $env->{object} = bless [], 'Killer';
    return [200, [], ['a']];
});
like $server->get('/'), qr/\r\n\r\na\z/, 'a DESTROY that dies';
like $server->post('/a%20b?c=d', 'body'), qr{\AHTTP/1\.1 500 }, 'a POST';
is $server->stop, 0, 'exit status';
like $server->log, qr{^\t\(in cleanup\) killed}m, 'the log of the DESTROY';
like $server->log, qr{ error \d+ - - POST /a%20b: broken$}m, 'the log of the POST';

# A handler for all exceptions that itself dies.
$server = TestServer->start(sub { $SIG{__DIE__} = sub { die @_ }; die "broken\n" });
like $server->get('/'), qr{\AHTTP/1\.1 500 }, 'a handler in %SIG';
like $server->get('/'), qr{\AHTTP/1\.1 500 }, 'a handler in %SIG, again';
is $server->stop, 0, 'exit status with a handler in %SIG';

done_testing;
