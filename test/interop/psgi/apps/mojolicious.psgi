# The application of mojolicious_test.rb. Each route uses one feature of Mojolicious. The shared routes are those of
# ../support/framework_cases.rb.
use strict;
use warnings;
use utf8;

use Cwd qw(getcwd);
use Digest::SHA qw(sha256_hex);
use Mojolicious::Lite -signatures;
use Plack::Builder;

app->secrets(['0123456789abcdef']);
app->static->paths([getcwd()]);
app->log->level('error');

get '/hello/:name' => sub ($c) {
    $c->render(text => join ' ', 'hello', $c->param('name'), $c->param('greeting') // ());
};

get '/client' => sub ($c) {
    my $url = $c->url_for('/')->to_abs;
    $c->render(text => join ' ', $c->tx->remote_address // 'none', $url->protocol, $url->host_port);
};

get '/away'  => sub ($c) { $c->redirect_to($c->url_for('/hello/you')->to_abs) };
get '/raise' => sub ($c) { die "on purpose\n" };
get '/file'  => sub ($c) { $c->reply->static('large.bin') };
get '/count' => sub ($c) { $c->render(text => ++$c->session->{count}) };

get '/cookies' => sub ($c) {
    $c->cookie(a => 1);
    $c->cookie(b => 2);
    $c->render(text => 'two cookies');
};

# Each part is written when the part before it has left.
get '/stream' => sub ($c) {
    my @parts = map {"part $_\n"} 0 .. 2;
    my $next;
    $next = sub {
        my $part = shift @parts;
        defined $part ? $c->write_chunk($part, $next) : $c->finish;
    };
    $next->();
};

post '/form' => sub ($c) {
    my $form = $c->req->body_params->to_hash;
    $c->render(text => join '', map {"$_=$form->{$_}\n"} sort keys %$form);
};

post '/upload' => sub ($c) {
    my $file = $c->req->upload('file');
    $c->render(text => join ' ', $c->param('note'), $file->filename, $file->size, sha256_hex($file->slurp));
};

post '/raw' => sub ($c) { $c->render(text => sha256_hex($c->req->body)) };

# ---- features of Mojolicious alone ----

# A template, with a form whose token is in the session.
any '/token' => sub ($c) {
    return $c->render(template => 'token') if $c->req->method eq 'GET';
    my $validation = $c->validation->csrf_protect;
    $c->render(text => $validation->has_error('csrf_token') ? 'refused' : 'accepted');
};

# A response whose length is not known, made from promises that the event loop fulfils.
get '/later' => sub ($c) {
    $c->render_later;
    my $promise = Mojo::Promise->new;
    Mojo::IOLoop->next_tick(sub { $promise->resolve('later') });
    $promise->then(sub ($text) { $c->render(text => $text) });
    $promise->wait;
};

builder {
    enable 'ReverseProxy';
    app->start('psgi');
};

__DATA__

@@ token.html.ep
<%= form_for token => (method => 'POST') => begin %><%= csrf_field %><% end %>
