# Plack's middlewares around each kind of response.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use File::Temp ();
use Plack::Builder;
use Plack::Util ();
use Test::More;
use Table qw(check chunked full);

my $file = File::Temp->new;
print {$file} 'abc';
close $file;

my @type = ('Content-Type', 'text/plain');
my %apps = (
    array => sub { [200, [@type], ['ab', 'c']] },
    lines => sub { my @parts = ('ab', 'c'); [200, [@type], Plack::Util::inline_object(getline => sub { shift @parts },
        close => sub { })] },
    file    => sub { open my $body, '<', "$file" or die "open: $!"; [200, [@type], $body] },
    delayed => sub { sub { $_[0]->([200, [@type], ['ab', 'c']]) } },
    stream  => sub { sub { my $writer = $_[0]->([200, [@type]]); $writer->write($_) for 'ab', 'c'; $writer->close } },
);

# As Plack::Middleware::Deflater: a filter for each part, and a last part.
my $filter = sub {
    my ($app) = @_;
    return sub {
        my ($env) = @_;
        return Plack::Util::response_cb($app->($env), sub {
            my ($response) = @_;
            my $ended;
            Plack::Util::header_set($response->[1], 'X-Filter', 'yes');
            return sub {
                my ($part) = @_;
                return if $ended;
                return uc $part if defined $part;
                $ended = 1;
                return '.';
            };
        });
    };
};

# Without a filter, response_cb passes the response on, also a file.
my $header = sub { my ($app) = @_; sub { Plack::Util::response_cb($app->(@_), sub { push @{ $_[0][1] }, 'X-A', 'b';
    return }) } };

my $text = "Content-Type: text/plain\r\n";
my $plain = full('200 OK', $text, 'abc');
my $sent_file = full('200 OK', "${text}Accept-Ranges: bytes\r\n", 'abc');
my $lines = chunked($text, 'ab', 'c');
my %plain = (array => $plain, lines => $lines, file => $sent_file, delayed => $plain, stream => $lines);
my $filtered = chunked("${text}X-Filter: yes\r\n", 'AB', 'C', '.');
my $one_part = chunked("${text}X-Filter: yes\r\n", 'ABC', '.');
my %filtered = (array => full('200 OK', "${text}X-Filter: yes\r\n", 'ABC.'), lines => $filtered, file => $one_part,
    delayed => full('200 OK', "${text}X-Filter: yes\r\n", 'ABC.'), stream => $filtered);
my $length = "HTTP/1.1 200 OK\r\n${text}Content-Length: 3\r\nConnection: close\r\n\r\nabc";
my %length = (%plain, array => $length, delayed => $length,
    file => "HTTP/1.1 200 OK\r\n${text}Accept-Ranges: bytes\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");

my @rows;
sub add_rows {
    my ($name, $middleware, %want) = @_;
    my $wrap = ref $middleware eq 'CODE' ? $middleware : do {
        my $class = Plack::Util::load_class($middleware, 'Plack::Middleware');
        sub { $class->wrap($_[0]) };
    };
    push @rows, { name => "$name, $_", app => $wrap->($apps{$_}), want => $want{$_} } for sort keys %apps;
    return;
}

sub marked { my (%want) = @_; s/^Content-Type: [^\n]*\n/$&X-A: b\r\n/m for values %want; return %want }

add_rows('none', sub { $_[0] }, %plain);
add_rows('response_cb with a filter', $filter, %filtered);
add_rows('response_cb without a filter', $header, marked(%plain));
add_rows('Lint',              'Lint',              %plain);
add_rows('ContentLength',     'ContentLength',     %length);
add_rows('StackTrace',        'StackTrace',        %plain);
add_rows('Head',              'Head',              %plain);
add_rows('ConditionalGET',    'ConditionalGET',    %plain);
add_rows('BufferedStreaming', 'BufferedStreaming', %plain);
add_rows('Lint around Lint',  sub { my ($app) = @_; builder { enable 'Lint'; enable 'Lint'; $app } }, %plain);
add_rows('two filters', sub { $filter->($header->($_[0])) }, map { s/X-Filter/X-A: b\r\nX-Filter/r } %filtered);

# Chunked frames the body itself, and the core sends the chunks as they are.
my %chunks = map { $_ => $lines } keys %apps;
$chunks{file} = chunked($text, 'abc');
add_rows('Chunked', 'Chunked', %chunks);

check(@rows);

# StackTrace shows what an application dies of.
my $server = TestServer->start(builder { enable 'StackTrace', force => 1; sub { die "broken\n" } });
my $trace  = $server->get('/');
like $trace, qr{\AHTTP/1\.1 500 Internal Server Error\r\n.*\r\n\r\n.*broken}s, 'a trace';
is $server->stop, 0, 'exit status after a trace';
like $server->log, qr/\Abroken\n/, 'the log after a trace';

# HTTPExceptions turns an object into a response.
package Missing { sub new { return bless {}, $_[0] } sub code { 404 } sub as_string { 'missing' } }
$server = TestServer->start(builder { enable 'HTTPExceptions'; sub { die Missing->new } });
like $server->get('/'), qr{\AHTTP/1\.1 404 Not Found\r\n.*\r\n\r\nmissing\z}s, 'an exception that is a response';
is $server->log, '', 'the log after it';

done_testing;
