package Bontebok::ListOptions;

# Options with several values: plackup passes such an option once for each value, and a program may pass an array
# reference. A text may have several lines. Not for --listen, whose values plackup collects.

use strict;
use warnings;

use Bontebok::UserError qw(refuse);

my %NAMES = map { $_ => 1 } qw(public public_headers);

# given: what a handler's constructor gets, names and values. Returns a hash reference. The last value of a name counts,
# but list options have an array reference with all values.
sub collect {
    my @given = @_;
    my (%collected, %lists);
    while (my ($key, $value) = splice @given, 0, 2) {
        (my $name = $key) =~ tr/-/_/;
        if   ($NAMES{$name}) { push @{ $lists{$name} }, ref $value eq 'ARRAY' ? @$value : $value }
        else                 { $collected{$key} = $value }
    }
    return { %collected, %lists };
}

# The value of an option as the core's setting: lines. undef: none. Dies with a message for the user if one is empty.
sub lines {
    my ($option, $values) = @_;
    my @values = map { "$_" } grep { defined } @$values or return;
    /\S/ or refuse("$option must not be empty") for @values;
    return join "\n", grep { /\S/ } map { split /\n/ } @values;
}

sub names { return sort keys %NAMES }

1;
