# psgi.input of requests without a body. They share one handle, but no request sees what the application has done to the
# handle in an earlier request.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use B         ();
use Test::More;
use TestServer ();

# The application describes psgi.input, and then does this.
my @kept;
my @changes = (
    [nothing     => sub { }],
    [close       => sub { close $_[0] }],
    ['close method' => sub { $_[0]->close }],
    [read        => sub { read $_[0], my $body, 100 }],
    [readline    => sub { my @lines = readline $_[0] }],
    [seek        => sub { seek $_[0], 100, 0 }],
    ['line number' => sub { my $line = readline $_[0]; $. = 17 }],
    [utf8        => sub { binmode $_[0], ':utf8' }],
    [encoding    => sub { binmode $_[0], ':encoding(UTF-16)' }],
    [crlf        => sub { binmode $_[0], ':crlf' }],
    [pop         => sub { binmode $_[0], ':pop' }],
    [print       => sub { no warnings; print { $_[0] } 'x' }],
    [ungetc      => sub { $_[0]->ungetc(65) }],
    [untaint     => sub { $_[0]->untaint }],
    [reopen      => sub { open $_[0], '<', $0 or die }],
    ['reopen memory' => sub { open $_[0], '<', \'secret' or die }],
    ['undef glob' => sub { undef *{ $_[0] } }],
    ['slot'      => sub { ${ *{ $_[0] } }{key} = 1 }],
    ['array'     => sub { push @{ *{ $_[0] } }, 1 }],
    ['scalar'    => sub { ${ *{ $_[0] } } = 1 }],
    ['bless'     => sub { bless $_[0], 'Some::Class' }],
    ['tie'       => sub { tie *{ $_[0] }, 'Some::Handle' }],
    ['tied in place' => sub { *{ $_[0] } = \*STDERR }],
    ['value'     => sub { $_[1]{'psgi.input'} = 'text' }],
    ['keep'      => sub { push @kept, $_[0] }],
    ['keep, close the earlier ones' => sub { push @kept, $_[0]; close $kept[$_] for 0 .. $#kept - 1 }],
);
sub Some::Handle::TIEHANDLE { return bless [], shift }
sub Some::Handle::READLINE  { return 'secret' }
sub Some::Handle::READ      { $_[1] = 'secret'; return 6 }
sub Some::Handle::EOF       { return 0 }

sub describe {
    my ($handle) = @_;
    my $body;
    my @facts = (
        ref $handle, fileno $handle // 'closed', tell $handle, eof $handle ? 'end' : 'more', $handle->input_line_number,
        read($handle, $body, 10), $body, $handle->getline // 'undef', tell $handle, $handle->opened ? 'open' : 'closed',
        "@{[PerlIO::get_layers($handle)]}", tied *{$handle} ? 'tied' : 'plain',
        *{$handle}{HASH} ? 'hash' : 'no hash', *{$handle}{ARRAY} ? 'array' : 'no array',
        $handle->error ? 'error' : 'no error', ref(B::svref_2object($handle)->SV) =~ /SPECIAL/ ? 'no scalar' : 'scalar',
    );
    return join '|', @facts;
}

my $server = TestServer->start(
    sub {
        my ($env) = @_;
        my $facts = eval { describe($env->{'psgi.input'}) } // $@;
        $changes[$env->{QUERY_STRING}][1]->($env->{'psgi.input'}, $env);
        return [200, [], ["<$facts>"]];
    }
);
my $fresh = 'IO::File|-1|0|end|0|0||undef|0|open|scalar|plain|no hash|no array|no error|no scalar';

for my $number (0 .. $#changes) {
    my $requests = join '', map { "GET /?$number HTTP/1.1\r\nHost: a\r\n$_\r\n" } '', "Content-Length: 0\r\n",
      "Transfer-Encoding: chunked\r\n\r\n0\r\n", "Connection: close\r\n";
    my @facts = $server->raw($requests) =~ /<(.*?)>/g;
    is_deeply \@facts, [($fresh) x 4], $changes[$number][0];
}
is $server->log, '', 'the log';

# A handle that the application keeps stays open when a later request closes its own.
my $kept;
my @keeps = (handle => sub { $_[0] }, glob => sub { \*{ $_[0] } }, IO => sub { *{ $_[0] }{IO} });
while (my ($name, $keep) = splice @keeps, 0, 2) {
    $server = TestServer->start(
        sub {
            my ($env) = @_;
            return [200, [], [$kept->opened ? 'open' : 'closed']] if $env->{PATH_INFO} eq '/look';
            $kept = $keep->($env->{'psgi.input'}) if $env->{PATH_INFO} eq '/keep';
            close $env->{'psgi.input'}            if $env->{PATH_INFO} eq '/close';
            return [200, [], []];
        }
    );
    $server->get($_) for qw(/keep /close);
    like $server->get('/look'), qr/\r\n\r\nopen\z/, "an application keeps the $name";
}

# What an application attaches to the handle ends with its request.
{
    package Ending;
    sub DESTROY { print STDERR "the end of $_[0]{of}\n" }
}
$server = TestServer->start(
    sub {
        my ($env) = @_;
        ${ *{ $env->{'psgi.input'} } }{own} = bless { of => $env->{PATH_INFO} }, 'Ending';
        return [200, [], []];
    }
);
$server->get('/1');
ok TestServer::eventually { $server->log eq "the end of /1\n" }, 'an object ends with its request';

# Requests share the handle as long as nobody changes it.
$server = TestServer->start(sub { [200, [], [0 + $_[0]{'psgi.input'}]] });
my ($first, $second) = map { m{\r\n\r\n([0-9]+)\z} } map { $server->get('/') } 1, 2;
is $second, $first, 'one handle';

done_testing;
