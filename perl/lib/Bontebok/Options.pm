package Bontebok::Options;

# The options of plackup that this handler knows, and their values. A value is checked here, except addresses, which
# Bontebok::Listeners reads. Each method returns the value of one option. Not for options of Plack itself.

use strict;
use warnings;

use Bontebok              ();
use Bontebok::ListOptions ();
use Bontebok::OptionNames qw(option unknown);
use Bontebok::UserError   qw(refuse);
use List::Util            qw(max min);

# Options and their defaults. The other options are settings of the core.
my %DEFAULTS = (
    listen               => undef,
    listen_sock          => undef,
    host                 => undef,
    port                 => undef,
    socket               => undef,
    backlog              => 1024,
    max_workers          => 10,
    max_reqs_per_child   => 1000,
    min_reqs_per_child   => undef,
    spawn_interval       => 0,
    err_respawn_interval => 1,
    graceful_timeout     => 30,
    child_exit           => undef,
    timeout              => 300,
    keepalive            => 1,
    keepalive_timeout    => 75,
    max_keepalive_reqs   => 0,
    server_software      => undef,
    server_ready         => undef,
);

# Names that Starlet and Gazelle know, too.
my %ALIASES = (workers => 'max_workers', max_requests => 'max_reqs_per_child');

# Options that are settings of the core by other names (bontebok_settings.h), or several of them.
my %SETTINGS = (
    timeout            => [qw(header_timeout body_timeout write_timeout)],
    max_keepalive_reqs => [qw(max_keepalive_requests)],
    server_software    => [qw(server_name)],
);

# Settings of the core that have no effect here, or have another name.
my %ABSENT = map { $_ => 1 } qw(server_name max_keepalive_requests request_timeout_soft worker_timeout x_sendfile
  unbuffered_bodies);

my @NUMBERS = ([backlog => 1], [max_workers => 0], [max_reqs_per_child => 0], [min_reqs_per_child => 1]);
my @TIMES   = qw(spawn_interval err_respawn_interval);

# More are a mistake.
use constant MOST_WORKERS => 1000;

# given: a hash reference; names with "-" or "_". See Bontebok::ListOptions for options with several values. Dies with a
# message for the user.
sub new {
    my ($class, $given) = @_;
    my $self  = bless {%DEFAULTS}, $class;
    my @known = (keys %DEFAULTS, keys %ALIASES, Bontebok::ListOptions::names());
    for my $key (sort keys %$given) {
        (my $name = $key) =~ tr/-/_/;
        $name = $ALIASES{$name} // $name;
        exists $DEFAULTS{$name} || _is_setting($name) or refuse(unknown($key, @known));
        $self->{$name} = $given->{$key} if defined $given->{$key};
    }
    $self->_check;
    return $self;
}

sub get { return $_[0]{ $_[1] } }

# The value of a time, in seconds.
sub seconds { return Bontebok::Core::seconds("$_[0]{ $_[1] }") }

# The core's settings, as text.
sub settings {
    my ($self) = @_;
    my %settings;
    for my $name (grep { defined $self->{$_} } sort keys %SETTINGS) {
        $settings{$_} = "$self->{$name}" for @{ $SETTINGS{$name} };
    }
    $settings{$_} = "$self->{$_}" for grep { defined $self->{$_} && _is_setting($_) } keys %$self;
    $settings{max_keepalive_requests} = 1 unless $self->{keepalive};
    $settings{trusted_proxies} = '' if ($settings{trusted_proxies} // '') eq 'none';
    return \%settings;
}

# After how many requests this worker is replaced; 0: never. Call it in each worker: the number is random, because
# otherwise all workers would be replaced at the same time.
sub requests_per_child {
    my ($self) = @_;
    my $most  = $self->{max_reqs_per_child};
    my $least = min($most, $self->{min_reqs_per_child} // max(1, int($most * 3 / 4)));
    return $most - int rand($most - $least + 1);
}

sub _is_setting { return !exists $ABSENT{ $_[0] } && Bontebok::Core::has_setting($_[0]) }

# ---- values ----

sub _check {
    my ($self) = @_;
    $self->_join_lists;
    $self->_check_setting($_, $SETTINGS{$_}[0]) for sort keys %SETTINGS;
    $self->_check_setting($_, $_) for grep { _is_setting($_) } sort keys %$self;
    $self->_check_setting($_, 'graceful_timeout') for @TIMES;
    $self->_check_number(@$_) for @NUMBERS;
    $self->_check_switch('keepalive');
    ($self->{server_software} // '') =~ /[^\t\x20-\x7e\x80-\xff]/
      and refuse('--server-software must not have control characters');
    !defined $self->{server_ready} || ref $self->{server_ready} eq 'CODE'
      or refuse('--server-ready must be a code reference');
    $self->_check_child_exit if defined $self->{child_exit};
    $self->{max_workers} <= MOST_WORKERS or refuse("--max-workers must be at most @{[MOST_WORKERS]}");
    $self->_check_paths;
    my $fault = Bontebok::Core::faults($self->settings) // return;
    refuse($fault);
}

sub _join_lists {
    my ($self) = @_;
    for my $name (Bontebok::ListOptions::names()) {
        $self->{$name} = Bontebok::ListOptions::lines(option($name), $self->{$name});
    }
    !defined $self->{public_headers} || defined $self->{public} or refuse('--public-headers needs --public');
    return;
}

sub _check_setting {
    my ($self, $name, $setting) = @_;
    my $value = $self->{$name} // return;
    my $fault = Bontebok::Core::fault($setting, "$value") // return;
    # plackup passes an empty text for --disable-NAME.
    return $self->{$name} = 'off' if $value eq '' && !defined Bontebok::Core::fault($setting, 'off');
    refuse(option($name) . " $fault, not '$value'");
}

sub _check_number {
    my ($self, $name, $least) = @_;
    my $value = $self->{$name} // return;
    return if $value =~ /\A[0-9]{1,15}\z/ && $value >= $least;
    refuse(option($name) . " must be a whole number from $least on, not '$value'");
}

# plackup passes 1 for --enable-NAME.
sub _check_switch {
    my ($self, $name) = @_;
    my $value = lc $self->{$name};
    $value =~ /\A(?:true|yes|on|1|false|no|off|0|)\z/
      or refuse(option($name) . " must be true or false, not '$self->{$name}'");
    $self->{$name} = $value =~ /\A(?:true|yes|on|1)\z/;
    return;
}

sub _check_paths {
    my ($self) = @_;
    for my $name (grep { ($self->{$_} // '/') !~ m{\A/} } qw(ready_path live_path)) {
        refuse(option($name) . " must begin with /, not '$self->{$name}'");
    }
    my $directory = $self->{spool_dir} // return;
    -d $directory && -w _ or refuse("--spool-dir $directory is no directory that this process may write to");
    return;
}

# From the command line it is a text, as for Starlet and Gazelle.
sub _check_child_exit {
    my ($self) = @_;
    my $code = $self->{child_exit};
    $code = eval "package main; $code" unless ref $code;    ## no critic (ProhibitStringyEval): the user's own code
    ref $code eq 'CODE' or refuse('--child-exit must be the text of a code reference, such as "sub { ... }"');
    $self->{child_exit} = $code;
    return;
}

1;
