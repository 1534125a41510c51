package Bontebok::UserError;

# A mistake of the user at the start: a wrong option, an address in use. plackup ends with exit status 2 and the message
# on one line. A program that calls the handler can catch the exception.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(refuse);

# Perl's exit status after an uncaught exception is errno, see perldoc -f die.
use constant EXIT_STATUS => 2;

sub refuse {
    my ($message) = @_;
    $message =~ s/([\x00-\x1f\x7f])/sprintf '\\x%02x', ord $1/ge;    # one line
    $! = EXIT_STATUS;    ## no critic (Variables::RequireLocalizedPunctuationVars): it must outlive this sub
    die "bontebok: $message\n";
}

1;
