# --public and --public-headers: the messages about wrong values, the files that the server sends itself, and what still
# comes to the application. In one process, and with workers.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok::ListOptions    ();
use Bontebok::Options        ();
use Command                  ();
use File::Path               qw(mkpath);
use POSIX                    ();
use Plack::Handler::Bontebok ();
use Test::More;

my @workers   = Bontebok::Shared::is_possible() ? (0, 2) : (0);
my $directory = File::Temp->newdir;
my $app       = 'sub { [200, [], ["app $_[0]{REQUEST_METHOD} $_[0]{PATH_INFO}"]] }';

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!";
    print {$file} $text;
    close $file or die "$path: $!";
    return;
}

sub settings { return Bontebok::Options->new(Bontebok::ListOptions::collect(@_))->settings }

sub body { my ($response) = @_; return $response =~ m{\AHTTP/1\.1 200 .*?\r\n\r\n(.*)\z}s ? $1 : "no 200: $response" }

sub start {
    my ($workers, %options) = @_;
    my @args = ('--max-workers', $workers, @{ delete $options{args} });
    return Command->start(app => $app, group => 1, args => \@args, %options);
}

mkpath(["$directory/one/assets", "$directory/two"]);
write_file("$directory/one/assets/a.css", 'a{}');
write_file("$directory/one/both.txt",     'one');
write_file("$directory/two/both.txt",     'two');
write_file("$directory/two/b.txt",        'b');

# ---- values ----

package Path { use overload '""' => sub { $_[0][0] }, fallback => 1 }

package main;

# What the handler gets, and both settings of the core.
my ($one, $rule) = ('/a/ A: 1', '/b/ B: 2');
for my $row (
    [[public => '/a', timeout => 1]                                       => '/a',       undef],
    [[public => '/a', public => '/b', 'public_headers' => $one]           => "/a\n/b",   $one],
    [[public => ['/a', '/b'], 'public-headers' => $one]                   => "/a\n/b",   $one],
    [[public => "/a\n/b\n", public_headers => "$one\n$rule\n"]            => "/a\n/b",   "$one\n$rule"],
    [['public-headers' => $one, public => '/a', public_headers => $rule]  => '/a',       "$one\n$rule"],
    [[public => bless(['/a'], 'Path')]                                    => '/a',       undef],
    [[public => undef]                                                    => undef,      undef],
    [[public => []]                                                       => undef,      undef],
  ) {
    my ($given, @expected) = @$row;
    my $name = join ' ', map { $_ // 'undef' } @$given;
    is_deeply [@{ settings(@$given) }{qw(public public_headers)}], \@expected, "settings: $name";
}

# ---- mistakes ----

my $form = q(must be '/PREFIX NAME: VALUE');
my $some = "--public $directory/one";
for my $row (
    ["--public $directory/none"                 => "--public $directory/none: No such file or directory"],
    ["--public $directory/one/both.txt"         => "--public $directory/one/both.txt: Not a directory"],
    ["$some --public $directory/none"           => "--public $directory/none: No such file or directory"],
    ['--public='                                => '--public must not be empty'],
    ["$some --public-headers="                  => '--public-headers must not be empty'],
    ["$some --public-headers=/a"                => "--public-headers /a: $form"],
    ["$some --public-headers=/a\nb"             => "--public-headers /a: $form"],
    ["$some --public_headers=a-b:c"             => "--public-headers a-b:c: $form"],
    ['--public-headers=/a'                      => '--public-headers needs --public'],
    ['--public=' . 'x' x 4096                   => q(--public must have at most 4095 bytes, not ') . 'x' x 4096 . q(')],
    ["--publik $directory/one"                  => 'unknown option --publik; the nearest one is --public'],
  ) {
    my ($args, $message) = @$row;
    for my $workers (@workers) {
        my @result = Command->run({ app => $app }, '--max-workers', $workers, split / /, $args);
        is_deeply \@result, [2, "bontebok: $message\n"], "$workers workers, @{[substr $args, 0, 100]}";
    }
}
is_deeply [Command->run('--public', "$directory/one", '--public-headers', '/ ETag: "x"')],
  [2, "bontebok: --public-headers / ETag: \"x\": the server sets this field itself\n"], 'a field of the server';
ok !eval { Plack::Handler::Bontebok->new(public => '/nowhere/x')->run(sub { }); 1 }, 'a program: an exception';
is $@, "bontebok: --public /nowhere/x: No such file or directory\n", 'a program: the message';

# The server closes the directories at its end.
my $open   = sub { return scalar grep { my $copy = POSIX::dup($_); defined $copy && POSIX::close($copy) } 0 .. 100 };
my $before = $open->();
for my $workers (@workers) {
    my $end = sub { kill TERM => $$ };
    my @given = (max_workers => $workers, listen => "$directory/sock", server_ready => $end);
    Plack::Handler::Bontebok->new(@given, public => [("$directory/one") x 3])->run(sub { });
    is $open->(), $before, "$workers workers: no descriptor is left";
}

done_testing;
