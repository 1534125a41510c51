package Bontebok::OptionNames;

# Names of options as the user writes them, and the message about an unknown name. Not for values.

use strict;
use warnings;

use Exporter   qw(import);
use List::Util qw(min);

our @EXPORT_OK = qw(option unknown);

# The message proposes a name at most so far away, or a name that contains the unknown one.
use constant NEAR => 3;

sub option {
    my ($name) = @_;
    $name =~ tr/_/-/;
    return "--$name";
}

# known: the names that exist.
sub unknown {
    my ($key, @known) = @_;
    (my $name = $key) =~ tr/-/_/;
    my %distance = map { $_ => index($_, $name) >= 0 ? 0 : _distance($name, $_) } @known;
    my ($nearest) =
      sort { $distance{$a} <=> $distance{$b} || length $a <=> length $b || $a cmp $b } keys %distance;
    my $text = 'unknown option ' . option($key);
    $text .= '; the nearest one is ' . option($nearest) if $distance{$nearest} <= NEAR;
    return $text;
}

# The Levenshtein distance: how many letters must be inserted, removed or replaced.
sub _distance {
    my ($from, $to) = @_;
    my @row = (0 .. length $to);
    for my $i (1 .. length $from) {
        my @next = ($i);
        for my $j (1 .. length $to) {
            my $replaced = $row[ $j - 1 ] + (substr($from, $i - 1, 1) ne substr($to, $j - 1, 1));
            push @next, min($replaced, $row[$j] + 1, $next[-1] + 1);
        }
        @row = @next;
    }
    return $row[-1];
}

1;
