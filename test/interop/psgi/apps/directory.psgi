# The application of directory_test.rb: the files of the working directory, and its lists.
use strict;
use warnings;

use Plack::App::Directory;
use Plack::Builder;

builder {
    enable 'ConditionalGET';
    Plack::App::Directory->new(root => 'files')->to_app;
};
