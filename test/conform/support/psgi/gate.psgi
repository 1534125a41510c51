# Responds with two parts. The second part exists only after somebody has written to the FIFO `gate`.
use strict;
use warnings;

package Parts {
    sub getline {
        my ($self) = @_;
        my $part = shift @$self;
        open my $gate, '<', 'gate' or die "gate: $!" if defined $part && $part eq 'two';
        readline $gate if $gate;
        return $part;
    }

    sub close { return }    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
}

sub { [200, ['Content-Type' => 'text/plain'], bless(['one', 'two'], 'Parts')] }
