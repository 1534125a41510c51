# Each request gets a new env, which the application may change and keep. The next request does not see the change.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use EnvServer    ();
use Scalar::Util qw(readonly);
use Test::More;
use TestServer ();

my @request = (
    'PUT /path%20x?query HTTP/1.1',
    ['X-Own: 1', 'X-Own: 2', 'Cookie: a=b', 'Content-Type: text/plain', 'Accept: */*', 'Content-Length: 2'], 'ab'
);

# Changes of env. Each has the whole env as its argument.
my @changes = (
    [nothing             => sub { }],
    ['values in place'   => sub { my ($env) = @_; for (values %$env) { $_ = 'changed' if !ref } }],
    ['substitution'      => sub { my ($env) = @_; for (values %$env) { s/./changed/sg if defined && !ref } }],
    ['numbers'           => sub { my ($env) = @_; no warnings 'numeric'; $_++ for grep { defined } values %$env }],
    ['psgi.url_scheme'   => sub { $_[0]{'psgi.url_scheme'} =~ s/\z/s/ }],
    ['references'        => sub { my ($env) = @_; for (values %$env) { $_ = [] if ref } }],
    ['all keys deleted'  => sub { my ($env) = @_; delete $env->{$_} for keys %$env }],
    ['hash cleared'      => sub { %{ $_[0] } = () }],
    ['undef'             => sub { undef %{ $_[0] } }],
    ['new keys'          => sub { $_[0]{"key $_"} = $_ for 1 .. 1000 }],
    ['aliases'           => sub { my ($env) = @_; $_ = undef for @$env{ keys %$env } }],
    ['localized'         => sub { local $_[0]{REQUEST_METHOD} = 'x'; local $_[0]{'psgi.input'} }],
    ['blessed'           => sub { bless $_[0], 'Some::Class' }],
    ['tied'              => sub { require Tie::Hash; tie %{ $_[0] }, 'Tie::StdHash' }],
    ['locked'            => sub { require Hash::Util; Hash::Util::lock_hashref_recurse($_[0]) }],
    ['iterator'          => sub { my @pair = each %{ $_[0] } }],
    ['wide values'       => sub { my ($env) = @_; for (values %$env) { $_ .= "\x{263a}" if defined && !ref } }],
    ['version'           => sub { push @{ $_[0]{'psgi.version'} }, 2 }],
    ['number of version' => sub { $_[0]{'psgi.version'}[1] = 3 }],
);

my $server = EnvServer->start(
    before => sub {
        my ($env) = @_;
        my @fixed = grep { readonly $env->{$_} } sort keys %$env;
        $env->{'test.version'}  = "@{ $env->{'psgi.version'} }";
        $env->{'test.readonly'} = "@fixed";
        $env->{'test.class'}    = ref($env) . ' ' . (tied(%$env) ? 'tied' : 'plain');
        $env->{'test.characters'}  = join ' ', sort grep { utf8::is_utf8($env->{$_} // '') } keys %$env;
    }
);
my $expected = $server->env_of(EnvServer::http(@request));
is $expected->{'test.version'},  '1 1',        'psgi.version';
is $expected->{'test.readonly'}, '',           'all values are writable';
is $expected->{'test.class'},    'HASH plain', 'a plain hash';
is $expected->{'test.characters'},  '',           'all values are bytes';

# Each change is made in a server of its own, twice on one connection, and env must look the same each time.
for my $row (@changes) {
    my ($name, $code) = @$row;
    my $app = sub {
        my ($env) = @_;
        my $shown = shown($env);
        my $done  = eval { $code->($env); 1 };
        return [$done ? 200 : 201, [], ["($shown)"]];
    };
    my $server = TestServer->start($app);
    my $last   = EnvServer::http(@request);
    (my $first = $last) =~ s/^Connection: close\r\n//m;
    my @shown = $server->raw($first . $first . $last) =~ /\((.*?)\)/sg;
    is_deeply \@shown, [($shown[0]) x 3], $name;
    like $shown[0], qr/ REQUEST_METHOD=PUT .* psgi\.url_scheme=http psgi\.version=1 1 /s, "$name: the env itself";
    is $server->log, '', "$name: the log";
}

sub shown {
    my ($env) = @_;
    my @keys = grep { $_ ne 'HTTP_CONNECTION' } sort keys %$env;
    return join ' ', map { "$_=" . shown_value($env->{$_}) } @keys;
}

sub shown_value {
    my ($value) = @_;
    return 'undef' unless defined $value;
    return ref $value eq 'ARRAY' ? "@$value" : ref $value || $value;
}

# ---- an env that outlives its request ----

my @envs;
$server = TestServer->start(
    sub {
        my ($env) = @_;
        push @envs, $env;
        my @keys = qw(REQUEST_URI PATH_INFO QUERY_STRING HTTP_X_OWN CONTENT_LENGTH);
        return [200, [], [join ' ', map { @{$_}{@keys} } @envs]];
    }
);
for my $number (1 .. 3) {
    $server->post("/%4${number}?$number", 'x' x $number, "X-Own: $number");
}
my $response = $server->post('/D?4', 'xxxx', 'X-Own: 4');
like $response, qr{\r\n\r\n/%41\?1 /A 1 1 1 /%42\?2 /B 2 2 2 /%43\?3 /C 3 3 3 /D\?4 /D 4 4 4\z}, 'kept envs';

done_testing;
