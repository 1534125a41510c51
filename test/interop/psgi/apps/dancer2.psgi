# The application of dancer2_test.rb. Each route uses one feature of Dancer2. The shared routes are those of
# ../support/framework_cases.rb.
use strict;
use warnings;
use utf8;

use Cwd qw(getcwd);
use Dancer2;
use Digest::SHA qw(sha256_hex);
use Plack::Builder;

set charset => 'UTF-8';
set log     => 'error';
set engines => { session => { YAML => { session_dir => getcwd() . '/sessions' } } };
set session => 'YAML';

get '/hello/:name' => sub {
    return join ' ', 'hello', route_parameters->get('name'), query_parameters->get('greeting') // ();
};

get '/client' => sub {
    return join ' ', request->address // 'none', request->scheme, request->host;
};

get '/away'  => sub { redirect uri_for('/hello/you') };
get '/raise' => sub { die "on purpose\n" };
get '/file'  => sub { send_file getcwd() . '/large.bin', system_path => 1, content_type => 'application/octet-stream' };

get '/count' => sub {
    session count => (session('count') // 0) + 1;
    return session 'count';
};

get '/cookies' => sub {
    cookie a => 1;
    cookie b => 2;
    return 'two cookies';
};

get '/stream' => sub {
    delayed {
        flush;
        content "part $_\n" for 0 .. 2;
        done;
    };
};

post '/form' => sub {
    my $form = body_parameters;
    return join '', map { "$_=" . $form->get($_) . "\n" } sort $form->keys;
};

post '/upload' => sub {
    my $file = upload 'file';
    return join ' ', body_parameters->get('note'), $file->filename, $file->size, sha256_hex($file->content);
};

post '/raw' => sub { return sha256_hex(request->body) };

# ---- features of Dancer2 alone ----

# A response whose fields the application sets when the request has left the handler.
get '/delayed' => sub {
    delayed {
        response_header 'X-Delayed' => 'yes';
        status 201;
        flush;
        content 'one, ';
        content 'two';
        done;
    };
};

# A file from memory.
get '/memory' => sub {
    my $text = 'from memory';
    return send_file \$text, content_type => 'text/plain', filename => 'memory.txt';
};

get '/hash' => sub { return send_as JSON => { a => [1, 2] } };

builder {
    enable 'ReverseProxy';
    to_app;
};
