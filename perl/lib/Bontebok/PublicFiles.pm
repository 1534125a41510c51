package Bontebok::PublicFiles;

# The files of --public, which the core sends without the application. The master opens the directories once, so all
# workers serve the same directories.

use strict;
use warnings;

use Bontebok            ();
use Bontebok::UserError qw(refuse);

# options: Bontebok::Options. Returns a Bontebok::Public. Dies with a message for the user.
sub open {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($options) = @_;
    my $public = eval { Bontebok::Public->new($options->settings) };
    return $public // refuse($@ =~ s/\A(public(?:_headers)?): (.*)\n\z/'--' . $1 =~ tr{_}{-}r . " $2"/ser);
}

1;
