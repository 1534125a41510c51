# A Mojolicious application behind --public: the server sends the files of `public`, and the application has no paths of
# static files. Its hooks see only what is no file. Needs Mojolicious.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok ();
use Command  ();
use Test::More;

eval { require Mojolicious; 1 } or plan skip_all => 'Mojolicious is absent';

# The counter is in the application's process.
use constant APP => <<'APP';
use Mojolicious::Lite;
my @seen;
app->secrets(['0123456789abcdef']);
app->log->level('error');
app->static->paths([]);
hook before_dispatch => sub { push @seen, $_[0]->req->method . ' ' . $_[0]->req->url->path };
get '/page' => sub { $_[0]->render(text => 'page') };
post '/app.css' => sub { $_[0]->render(text => 'posted ' . $_[0]->req->body) };
get '/seen' => sub { $_[0]->render(text => join ', ', @seen) };
app->start('psgi');
APP

my $directory = File::Temp->newdir;
mkdir "$directory/public" or die "mkdir: $!";
open my $file, '>', "$directory/public/app.css" or die "app.css: $!";
print {$file} 'a{}';
close $file or die "app.css: $!";

sub start { return Command->start(app => APP, chdir => $directory, args => [@_, '--max-workers', 0]) }
sub status_of { return $_[0] =~ m{\AHTTP/1\.1 ([0-9]+) } ? $1 : "no status: $_[0]" }
sub body_of { return $_[0] =~ /\r\n\r\n(.*)\z/s ? $1 : "no body: $_[0]" }

my $server = start();
is status_of($server->get('/app.css')), 404, 'without --public: the application has no file';

$server = start(qw(--public public --public-headers), '/ Cache-Control: max-age=60');
my $response = $server->get('/app.css');
is status_of($response), 200,   'a file: the status';
is body_of($response),   'a{}', 'a file: the body';
like $response, qr{^Cache-Control: max-age=60\r$}m, 'a file: the field';
is body_of($server->get('/page')), 'page', 'a route';
is status_of($server->get('/nowhere.css')), 404, 'a missing file';
is body_of($server->post('/app.css', 'abc')), 'posted abc', 'POST to the path of a file';
is body_of($server->get('/seen')), 'GET /page, GET /nowhere.css, POST /app.css, GET /seen', 'what the hook has seen';
is $server->stop, 0, 'the end';
is $server->log, '', 'the log';

done_testing;
