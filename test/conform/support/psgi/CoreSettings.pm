package CoreSettings;

# Gives the server settings of the core for which the handler has no option, in the order name, value, name, value:
#
#   plackup -s Bontebok -I DIRECTORY -MCoreSettings=max_body,1000 app.psgi

use strict;
use warnings;

use Bontebok::Options ();

sub import {
    my (undef, %settings) = @_;
    my $of_options = \&Bontebok::Options::settings;
    no warnings 'redefine';    ## no critic (TestingAndDebugging::ProhibitNoWarnings)
    *Bontebok::Options::settings = sub { return { %{ $of_options->(@_) }, %settings } };
    return;
}

1;
