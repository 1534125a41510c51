package Body;

# Bodies for tests: an object with getline and close, which says on STDERR that it was closed.

use strict;
use warnings;

# label: what close says. parts: what getline returns; a code reference is called, and its result is returned.
sub new {
    my ($class, $label, @parts) = @_;
    return bless { label => $label, parts => \@parts }, $class;
}

sub getline {
    my ($self) = @_;
    my $part = shift @{ $self->{parts} };
    return ref $part eq 'CODE' ? $part->() : $part;
}

sub close {    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
    my ($self) = @_;
    print STDERR "closed $self->{label}\n";
    $self->{on_close}->() if $self->{on_close};
    return;
}

1;
