# psgi.input, env and the log have bytes, whatever PERL_UNICODE, PERL5OPT or `use open` say about the default layers.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Command ();
use Test::More;

my $app = <<'END';
my $first;
sub {
    my ($env) = @_;
    die "no \xe4 here\n" if $env->{PATH_INFO} eq '/die';
    my $input = $env->{'psgi.input'};
    my $layers = join ' ', PerlIO::get_layers($input);
    my @read;
    for (1, 2) {
        read $input, my $part, 3;
        push @read, $part, scalar <$input>;
        seek $input, 0, 0;
    }
    push @read, $env->{HTTP_X_TEXT}, $env->{PATH_INFO}, $env->{QUERY_STRING};
    my $flags = join '', map { utf8::is_utf8($_) ? 1 : 0 } @read;
    return [200, [], [$flags, map { sprintf ' %vd', substr $_, 0, 8 } @read]];
};
END

# Variables, and what the application begins with.
my @rows = (
    ['nothing', {}, ''],
    ['PERL_UNICODE=SDA', { PERL_UNICODE => 'SDA' }, ''],
    ['PERL_UNICODE=', { PERL_UNICODE => '' }, ''],
    ['PERL5OPT=-C', { PERL5OPT => '-C' }, ''],
    ['PERL5OPT=-CSDA', { PERL5OPT => '-CSDA' }, ''],
    ['PERLIO=:crlf', { PERLIO => ':crlf' }, ''],
    ['PERLIO=:utf8', { PERLIO => ':utf8' }, ''],
    ['PERL5OPT=-Mopen', { PERL5OPT => '-Mopen=:std,:utf8' }, ''],
    ['use open', {}, "use open qw(:std :utf8);\n"],
    ['use open with an encoding', {}, "use open IO => ':encoding(UTF-16)';\n"],
    ['use open with crlf', {}, "use open IO => ':crlf';\n"],
    ['use utf8', {}, "use utf8; use open qw(:std :encoding(UTF-8));\n"],
);

for my $row (@rows) {
    my ($name, $variables, $begin) = @$row;
    my $server = Command->start(app => $begin . $app, env => $variables);
    for my $size (0, 2 * 1024 * 1024) {
        my $body  = "\xc3\xa4\xff\r\n\xe4\n" . 'x' x $size;
        my $place = $size ? 'in a file' : 'in memory';
        like $server->post("/%c3%a4?\xe4", $body, "X-Text: \xc3\xa4\xe4"),
          qr/\r\n\r\n0000000 195\.164\.255 13\.10 195\.164\.255 13\.10 195\.164\.228 47\.195\.164 228\z/,
          "$name: the body is $place";
    }
    like $server->get('/die'), qr{\AHTTP/1\.1 500 }, "$name: 500";
    like $server->log, qr{\A[^\n]* error [0-9]+ - - GET /die: no \\xe4 here\n\z}, "$name: the log";
    is $server->stop, 0, "$name: the end";
}

done_testing;
