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

# ---- files ----

my @options = ('--public', "$directory/one", "--public=$directory/two", '--public-headers',
    '/assets/ Cache-Control: max-age=60', '--public_headers=/b X-B: 1');
for my $workers (@workers) {
    my $server = start($workers, args => \@options);
    my $style  = $server->get('/assets/a.css');
    is body($style), 'a{}', "$workers workers: a file";
    like $style, qr{^Content-Type: text/css}mi, "$workers workers: its type";
    like $style, qr{^Cache-Control: max-age=60\r$}mi, "$workers workers: a field of its rule";
    unlike $style, qr{^X-B:}mi, "$workers workers: no field of another rule";
    is body($server->get('/both.txt')), 'one', "$workers workers: the first directory with this file";
    my $second = $server->get('/b.txt');
    is body($second), 'b', "$workers workers: a file of the second directory";
    like $second, qr{^X-B: 1\r$}mi, "$workers workers: a field of the second rule";

    my ($tag) = $style =~ /^ETag: ([^\r]+)/mi;
    my $same  = $server->get('/assets/a.css', 'If-None-Match: ' . ($tag // 'none'));
    like $same, qr{\AHTTP/1\.1 304 [^\n]*\n(?:[^\r]+\r\n)+\r\n\z}, "$workers workers: a file that the client has";
    my $head = $server->raw("HEAD /assets/a.css HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    like $head, qr{\AHTTP/1\.1 200 .*^Content-Length: 3\r\n.*\r\n\r\n\z}msi, "$workers workers: HEAD";

    for my $target ('/', '/assets', '/assets/', '/assets/b.css') {
        is body($server->get($target)), "app GET $target", "$workers workers, $target: the application answers";
    }
    is body($server->post('/b.txt', 'x')), 'app POST /b.txt', "$workers workers: POST";
    is $server->stop, 0, "$workers workers: the end";
    is $server->log, '', "$workers workers: the log";
}

# A relative name, and workers that make the application.
for my $workers (@workers) {
    my $server = start($workers, chdir => "$directory/one", args => [qw(--public assets -L Delayed)]);
    is body($server->get('/a.css')), 'a{}', "$workers workers: a directory in the current directory";
}

# A file is sent while the only worker serves another request. The access log has it.
{
    POSIX::mkfifo("$directory/gate", 0600) or die "mkfifo: $!";
    my $waits  = 'sub { print STDERR "waits\n"; open my $gate, "<", shift->{HTTP_GATE}; [200, [], [readline $gate]] }';
    my $server = start(0, app => $waits, args => [@options, "--access_log=$directory/log"]);
    my $client = $server->connect;
    syswrite $client, "GET /nothing HTTP/1.1\r\nHost: a\r\nGate: $directory/gate\r\nConnection: close\r\n\r\n";
    ok $server->logs(qr/waits\n/), 'a busy server: the application has a request';
    is body($server->get('/b.txt')), 'b', 'a busy server: a file';
    write_file("$directory/gate", 'goes on');
    is body(TestServer::read_all($client)), 'goes on', 'a busy server: the response of the application';
    is $server->stop, 0, 'a busy server: the end';
    my @lines = map { /"(GET [^"]+)" 200 / } do { open my $log, '<', "$directory/log" or die "log: $!"; <$log> };
    is_deeply [sort @lines], ['GET /b.txt HTTP/1.1', 'GET /nothing HTTP/1.1'], 'the access log';
}

# ---- the directories are opened once ----

if ($workers[-1]) {
    my $server = start(1, args => ['--public', "$directory/two"], app => 'sub { [200, [], [$$]] }');
    my $former = body($server->get('/'));
    rename "$directory/two", "$directory/old" or die "rename: $!";
    mkpath("$directory/two");
    kill HUP => $server->pid;
    ok TestServer::eventually { body($server->get('/')) ne $former }, 'HUP: a new worker';
    is body($server->get('/b.txt')), 'b', 'HUP: the new worker serves the directory that was opened at the start';
}

# The server closes the directories at its end.
my $read = body(TestServer->start(sub { [200, [], ['app']] }, public => ["$directory/one"])->get('/both.txt'));
is $read, 'one', 'a program: a file';
my $open   = sub { return scalar grep { my $copy = POSIX::dup($_); defined $copy && POSIX::close($copy) } 0 .. 100 };
my $before = $open->();
for my $workers (@workers) {
    my $end = sub { kill TERM => $$ };
    my @given = (max_workers => $workers, listen => "$directory/sock", server_ready => $end);
    Plack::Handler::Bontebok->new(@given, public => [("$directory/one") x 3])->run(sub { });
    is $open->(), $before, "$workers workers: no descriptor is left";
}

done_testing;
