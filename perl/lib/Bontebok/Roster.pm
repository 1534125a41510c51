package Bontebok::Roster;

# The workers that exist (Bontebok::Child), by number. Each number has one worker that stays, and others that start or
# leave. Makes no system call. Bontebok::Children uses it.

use strict;
use warnings;

# count: how many numbers there are.
sub new {
    my ($class, $count) = @_;
    return bless { numbers => [1 .. $count], children => [] }, $class;
}

sub numbers { return @{ $_[0]{numbers} } }

sub all { return @{ $_[0]{children} } }

sub add { my ($self, $child) = @_; push @{ $self->{children} }, $child; return }

sub remove { my ($self, $child) = @_; $self->{children} = [grep { $_ != $child } $self->all]; return }

# Forgets the workers, and so closes their channels.
sub clear { $_[0]{children} = []; return }

sub of { my ($self, $number) = @_; return grep { $_->number == $number } $self->all }

sub has { my ($self, $child) = @_; return scalar grep { $_ == $child } $self->all }

# The workers that serve although this one has taken their place.
sub former {
    my ($self, $child) = @_;
    return grep { $_ != $child && $_->is_serving } $self->of($child->number);
}

# True if the number needs a worker, and there is room: two workers for each number, and one more if this number has
# none that serves.
sub needs {
    my ($self, $number) = @_;
    my @own = $self->of($number);
    return if grep { $_->is_current || $_->is_starting } @own;
    return $self->all < 2 * $self->numbers + !grep { $_->is_serving } @own;
}

1;
