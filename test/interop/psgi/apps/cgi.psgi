# The application of cgi_test.rb: one CGI script, compiled into the server's process and as a program that each request
# executes.
use strict;
use warnings;

use File::Basename qw(dirname);
use Plack::App::WrapCGI;
use Plack::Builder;

my $script = dirname(__FILE__) . '/cgi-bin/script.cgi';

builder {
    enable 'ReverseProxy';
    mount '/compiled' => Plack::App::WrapCGI->new(script => $script)->to_app;
    mount '/executed' => Plack::App::WrapCGI->new(script => $script, execute => 1)->to_app;
};
