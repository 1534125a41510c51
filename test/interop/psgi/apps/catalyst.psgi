# The application of catalyst_test.rb. Each action uses one feature of Catalyst. The shared routes are those of
# ../support/framework_cases.rb.
use strict;
use warnings;
use utf8;

package Interop::Controller::Root {
    use Moose;
    BEGIN { extends 'Catalyst::Controller' }
    use Digest::SHA qw(sha256_hex);
    use namespace::autoclean;

    __PACKAGE__->config(namespace => '');

    # Catalyst encodes only text.
    sub begin : Private {
        my ($self, $c) = @_;
        $c->res->content_type('text/plain');
    }

    sub hello : Path('hello') Args(1) {
        my ($self, $c, $name) = @_;
        $c->res->body(join ' ', 'hello', $name, $c->req->query_params->{greeting} // ());
    }

    sub client : Local {
        my ($self, $c) = @_;
        $c->res->body(join ' ', $c->req->address // 'none', $c->req->base->scheme, $c->req->base->host_port);
    }

    sub away : Local {
        my ($self, $c) = @_;
        $c->res->redirect($c->uri_for('/hello/you'));
    }

    sub raise : Local { die "on purpose\n" }

    # A body that is a file.
    sub file : Local {
        my ($self, $c) = @_;
        open my $file, '<:raw', 'large.bin' or die "large.bin: $!";
        $c->res->content_type('application/octet-stream');
        $c->res->body($file);
    }

    sub count : Local {
        my ($self, $c) = @_;
        my $session = $c->req->env->{'psgix.session'};
        $c->res->body(++$session->{count});
    }

    sub cookies : Local {
        my ($self, $c) = @_;
        $c->res->cookies->{a} = { value => 1 };
        $c->res->cookies->{b} = { value => 2 };
        $c->res->body('two cookies');
    }

    # Fields and status leave with the first part.
    sub stream : Local {
        my ($self, $c) = @_;
        $c->res->write("part $_\n") for 0 .. 2;
    }

    sub form : Local {
        my ($self, $c) = @_;
        my $form = $c->req->body_params;
        $c->res->body(join '', map {"$_=$form->{$_}\n"} sort keys %$form);
    }

    sub upload : Local {
        my ($self, $c) = @_;
        my $file = $c->req->upload('file');
        $c->res->body(
            join ' ',
            $c->req->body_params->{note},
            $file->filename, $file->size, sha256_hex($file->slurp)
        );
    }

    # Catalyst keeps a body of an unknown type in a file.
    sub raw : Local {
        my ($self, $c) = @_;
        my $body = $c->req->body;
        $c->res->body(Digest::SHA->new(256)->addfile($body)->hexdigest);
    }

    # ---- features of Catalyst alone ----

    # The application writes the parts with the writer of PSGI.
    sub writer : Local {
        my ($self, $c) = @_;
        $c->res->status(201);
        my $writer = $c->res->write_fh;
        $writer->write("part $_\n") for 0 .. 2;
        $writer->close;
    }

    # The application responds by PSGI itself.
    sub psgi : Local {
        my ($self, $c) = @_;
        $c->res->from_psgi_response([202, ['Content-Type' => 'text/plain', 'X-Own' => 'yes'], ['by PSGI']]);
    }

    # A body that is an object with getline.
    sub lines : Local {
        my ($self, $c) = @_;
        open my $lines, '<', \"first\nsecond\n" or die "lines: $!";
        $c->res->body($lines);
    }

    sub default : Path {
        my ($self, $c) = @_;
        $c->res->status(404);
        $c->res->body('nothing here');
    }
}

package Interop {
    use Catalyst;

    __PACKAGE__->config(
        name                                        => 'Interop',
        encoding                                    => 'UTF-8',
        disable_component_resolution_regex_fallback => 1,
    );
    __PACKAGE__->setup;
}

use Plack::Builder;

builder {
    enable 'ReverseProxy';
    enable 'Session::Cookie', secret => '0123456789abcdef';
    Interop->psgi_app;
};
