# The application of Amon2Test (../frameworks_test.rb). Its routes are those of ../support/framework_cases.rb.
use strict;
use warnings;
use utf8;

package Amon2App {
    use parent qw(Amon2);
}

package Amon2App::Dispatcher {
    use Amon2::Web::Dispatcher::RouterBoom;
    use Digest::SHA qw(sha256_hex);
    use Encode      qw(decode_utf8 encode_utf8);

    sub text {
        my ($c, @parts) = @_;
        return $c->create_response(200, ['Content-Type' => 'text/plain'], [encode_utf8 join ' ', @parts]);
    }

    get '/hello/:name' => sub {
        my ($c, $args) = @_;
        return text($c, 'hello', decode_utf8($args->{name}), $c->req->param('greeting') // ());
    };

    get '/client' => sub {
        my ($c) = @_;
        return text($c, $c->req->address // 'none', $c->req->scheme, $c->req->base->host_port);
    };

    get '/away'  => sub { $_[0]->redirect('/hello/you') };
    get '/raise' => sub { die "on purpose\n" };

    get '/count' => sub {
        my ($c) = @_;
        my $count = ($c->session->get('count') // 0) + 1;
        $c->session->set(count => $count);
        return text($c, $count);
    };

    get '/cookies' => sub {
        my ($c) = @_;
        my $response = text($c, 'two cookies');
        $response->cookies->{a} = 1;
        $response->cookies->{b} = 2;
        return $response;
    };

    get '/file' => sub {
        my ($c) = @_;
        open my $file, '<:raw', 'large.bin' or die "large.bin: $!";
        return $c->create_response(200, ['Content-Type' => 'application/octet-stream'], $file);
    };

    get '/stream' => sub {
        my ($c) = @_;
        return $c->streaming(
            sub {
                my $writer = $_[0]->([200, ['Content-Type' => 'text/plain']]);
                $writer->write("part $_\n") for 0 .. 2;
                $writer->close;
            }
        );
    };

    post '/form' => sub {
        my ($c) = @_;
        my $form = $c->req->body_parameters;
        return text($c, join '', map {"$_=$form->{$_}\n"} sort keys %$form);
    };

    post '/upload' => sub {
        my ($c)  = @_;
        my $file = $c->req->upload('file');
        my $sum  = Digest::SHA->new(256)->addfile($file->path)->hexdigest;
        return text($c, $c->req->param('note'), $file->filename, $file->size, $sum);
    };

    post '/raw' => sub {
        my ($c) = @_;
        return text($c, sha256_hex($c->req->content));
    };
}

package Amon2App::Web {
    use parent -norequire, qw(Amon2App);
    use parent qw(Amon2::Web);

    sub dispatch {
        my ($c) = @_;
        return Amon2App::Dispatcher->dispatch($c);
    }

    __PACKAGE__->load_plugins('Web::Streaming');
}

use Plack::Builder;

builder {
    enable 'ReverseProxy';
    enable 'Session::Cookie', secret => '0123456789abcdef';
    Amon2App::Web->to_app;
};
