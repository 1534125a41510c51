package Bontebok::Options;

# The options of plackup that this handler knows, and their values. A value is checked here, except addresses, which
# Bontebok::Listeners reads. Each method returns the value of one option. Not for options of Plack itself.

use strict;
use warnings;

use Bontebok            ();
use Bontebok::UserError qw(refuse);
use List::Util          qw(min);

# Options and their defaults.
my %DEFAULTS = (
    listen             => undef,
    listen_sock        => undef,
    host               => undef,
    port               => undef,
    socket             => undef,
    backlog            => 1024,
    max_workers        => 0,
    timeout            => 300,
    keepalive          => 1,
    keepalive_timeout  => 75,
    max_keepalive_reqs => 0,
    server_software    => undef,
    server_ready       => undef,
);

# Options that are settings of the core (bontebok_settings.h).
my %SETTINGS = (
    timeout            => [qw(header_timeout body_timeout write_timeout)],
    keepalive_timeout  => [qw(keepalive_timeout)],
    max_keepalive_reqs => [qw(max_keepalive_requests)],
    server_software    => [qw(server_name)],
);

# The message about an unknown option proposes a name at most so far away, or a name that contains the unknown one.
use constant NEAR => 3;

# given: a hash reference; names with "-" or "_". Dies with a message for the user.
sub new {
    my ($class, $given) = @_;
    my $self = bless {%DEFAULTS}, $class;
    for my $key (sort keys %$given) {
        (my $name = $key) =~ tr/-/_/;
        exists $DEFAULTS{$name} or refuse(_unknown($key));
        $self->{$name} = $given->{$key} if defined $given->{$key};
    }
    $self->_check;
    return $self;
}

sub get { return $_[0]{ $_[1] } }

# The core's settings, as text.
sub settings {
    my ($self) = @_;
    my %settings;
    for my $name (sort keys %SETTINGS) {
        defined $self->{$name} or next;
        $settings{$_} = "$self->{$name}" for @{ $SETTINGS{$name} };
    }
    $settings{max_keepalive_requests} = 1 unless $self->{keepalive};
    return \%settings;
}

sub _check {
    my ($self) = @_;
    for my $name (sort keys %SETTINGS) {
        defined $self->{$name} or next;
        my $fault = Bontebok::Core::fault($SETTINGS{$name}[0], "$self->{$name}");
        refuse(_option($name) . " $fault, not '$self->{$name}'") if defined $fault;
    }
    $self->_check_switch('keepalive');
    ($self->{server_software} // '') =~ /[^\t\x20-\x7e\x80-\xff]/
      and refuse('--server-software must not have control characters');
    $self->_check_number('backlog', 1);
    $self->_check_number('max_workers', 0);
    $self->{max_workers} == 0
      or refuse('--max-workers must be 0: this version serves in one process');
    !defined $self->{server_ready} || ref $self->{server_ready} eq 'CODE'
      or refuse('--server-ready must be a code reference');
    return;
}

sub _check_number {
    my ($self, $name, $least) = @_;
    my $value = $self->{$name};
    return if $value =~ /\A[0-9]{1,9}\z/ && $value >= $least;
    refuse(_option($name) . " must be a whole number from $least on, not '$value'");
}

# plackup passes an empty text for --disable-NAME, and 1 for --enable-NAME.
sub _check_switch {
    my ($self, $name) = @_;
    my $value = lc $self->{$name};
    $value =~ /\A(?:true|yes|on|1|false|no|off|0|)\z/
      or refuse(_option($name) . " must be true or false, not '$self->{$name}'");
    $self->{$name} = $value =~ /\A(?:true|yes|on|1)\z/;
    return;
}

# ---- names for the user ----

sub _option {
    my ($name) = @_;
    $name =~ tr/_/-/;
    return "--$name";
}

sub _unknown {
    my ($key) = @_;
    (my $name = $key) =~ tr/-/_/;
    my %distance = map { $_ => index($_, $name) >= 0 ? 0 : _distance($name, $_) } keys %DEFAULTS;
    my ($nearest) = sort { $distance{$a} <=> $distance{$b} || $a cmp $b } keys %distance;
    my $text = 'unknown option ' . _option($key);
    $text .= '; the nearest one is ' . _option($nearest) if $distance{$nearest} <= NEAR;
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
