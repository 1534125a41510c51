package Plack::Handler::Bontebok;

use 5.016;
use strict;
use warnings;

use Bontebok::Listeners ();
use Bontebok::Options   ();
use Bontebok::Worker    ();

# Dies with a message for the user if an option is wrong.
sub new {
    my ($class, %given) = @_;
    return bless { options => Bontebok::Options->new(\%given) }, $class;
}

sub run {
    my ($self, $app) = @_;
    my $options   = $self->{options};
    my $listeners = Bontebok::Listeners->open($options);
    my $worker    = Bontebok::Worker->new($options, $listeners);
    $worker->run($app, sub { $self->_announce($listeners) });
    return;
}

# server_ready gets what Plack's other handlers pass: an object with these keys.
sub _announce {
    my ($self, $listeners) = @_;
    my ($first) = $listeners->all;
    @{$self}{qw(host port proto)} = (@{$first}{qw(name port)}, 'http');
    $self->{server_software} = $self->{options}->get('server_software') // ref $self;
    my $ready = $self->{options}->get('server_ready');
    $ready->($self) if $ready;
    return;
}

1;
