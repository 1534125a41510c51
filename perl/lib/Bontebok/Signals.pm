package Bontebok::Signals;

# Handlers of signals while the server runs. They are set without `local`: exit() would restore the former ones while
# the server still answers requests.

use strict;
use warnings;

# handlers: by the signals' names. Returns the former ones, for restore.
sub set {
    my (%handlers) = @_;
    my %former = map { $_ => $SIG{$_} } keys %handlers;
    $SIG{$_} = $handlers{$_} for keys %handlers;
    return \%former;
}

sub restore {
    my ($former) = @_;
    $SIG{$_} = $former->{$_} // 'DEFAULT' for keys %$former;
    return;
}

# Handlers that do nothing, for signals whose default ends the process after a write to a closed pipe, or past the limit
# of a file's size. IGNORE would be inherited by commands that the application executes.
sub harmless {
    return map { $_ => sub { } } grep { exists $SIG{$_} && is_default($SIG{$_}) } qw(PIPE XFSZ);
}

sub is_default {
    my ($handler) = @_;
    return !defined $handler || $handler eq '' || $handler eq 'DEFAULT';
}

1;
