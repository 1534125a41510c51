# The application of KossyTest (../frameworks_test.rb). Its routes are those of ../support/framework_cases.rb.
use strict;
use warnings;
use utf8;

package KossyApp {
    use Digest::SHA qw(sha256_hex);
    use Encode      qw(encode_utf8);
    use Kossy;
    use Plack::Util;

    get '/hello/:name' => sub {
        my ($self, $c) = @_;
        return encode_utf8 join ' ', 'hello', $c->args->{name}, $c->req->parameters->{greeting} // ();
    };

    get '/client' => sub {
        my ($self, $c) = @_;
        return join ' ', $c->req->address // 'none', $c->req->scheme, $c->req->base->host_port;
    };

    get '/away' => sub {
        my ($self, $c) = @_;
        return $c->redirect($c->req->uri_for('/hello/you'));
    };

    get '/raise' => sub { die "on purpose\n" };

    get '/count' => sub {
        my ($self, $c) = @_;
        return ++$c->req->env->{'psgix.session'}{count};
    };

    get '/cookies' => sub {
        my ($self, $c) = @_;
        $c->res->cookies->{a} = 1;
        $c->res->cookies->{b} = 2;
        return 'two cookies';
    };

    get '/file' => sub {
        my ($self, $c) = @_;
        open my $file, '<:raw', 'large.bin' or die "large.bin: $!";
        $c->res->content_type('application/octet-stream');
        $c->res->body($file);
        return $c->res;
    };

    # The body is an object with getline.
    get '/stream' => sub {
        my ($self, $c) = @_;
        my @parts = map {"part $_\n"} 0 .. 2;
        $c->res->body(Plack::Util::inline_object(getline => sub { shift @parts }, close => sub { }));
        return $c->res;
    };

    post '/form' => sub {
        my ($self, $c) = @_;
        my $form = $c->req->body_parameters;
        return encode_utf8 join '', map {"$_=$form->{$_}\n"} sort keys %$form;
    };

    post '/upload' => sub {
        my ($self, $c) = @_;
        my $file = $c->req->upload('file');
        my $sum  = Digest::SHA->new(256)->addfile($file->path)->hexdigest;
        return join ' ', $c->req->parameters->{note}, $file->filename, $file->size, $sum;
    };

    post '/raw' => sub {
        my ($self, $c) = @_;
        return sha256_hex($c->req->content);
    };
}

use Plack::Builder;

builder {
    enable 'ReverseProxy';
    enable 'Session::Cookie', secret => '0123456789abcdef';
    KossyApp->psgi;
};
