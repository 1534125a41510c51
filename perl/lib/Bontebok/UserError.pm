package Bontebok::UserError;

# A mistake of the user at the start: a wrong option, an address in use. plackup ends with exit status 2 and the message
# on one line. A program that calls the handler can catch the exception.

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT_OK = qw(refuse give_up);

# Perl's exit status after an uncaught exception is errno, see perldoc -f die.
use constant { EXIT_STATUS => 2, EXIT_STATUS_OF_A_FAILURE => 1 };

sub refuse { return _end(EXIT_STATUS, @_) }

# error: an exception of refuse.
sub refuse_again { return _end(EXIT_STATUS, $_[0] =~ s/\Abontebok: (.*)\n\z/$1/sr) }

# The server itself cannot go on, although the user's options are right.
sub give_up { return _end(EXIT_STATUS_OF_A_FAILURE, @_) }

sub _end {
    my ($status, $message) = @_;
    $message =~ s/([\x00-\x1f\x7f])/sprintf '\\x%02x', ord $1/ge;    # one line
    $! = $status;    ## no critic (Variables::RequireLocalizedPunctuationVars): it must outlive this sub
    die "bontebok: $message\n";
}

1;
