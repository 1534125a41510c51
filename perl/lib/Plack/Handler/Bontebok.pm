package Plack::Handler::Bontebok;

use 5.016;
use strict;
use warnings;

use Bontebok::ListOptions     ();
use Bontebok::Listeners       ();
use Bontebok::Options         ();
use Bontebok::Prefork         ();
use Bontebok::PublicFiles     ();
use Bontebok::StandardStreams ();
use Bontebok::UserError       ();
use Bontebok::Worker          ();
use Bontebok::WorkerLife      ();

# With PLACK_SERVER, plackup serves with another handler if this method dies. So a wrong option is reported by run.
sub new {
    my ($class, @given) = @_;
    my $options = eval { Bontebok::Options->new(Bontebok::ListOptions::collect(@given)) };
    return bless { options => $options, refusal => $options ? undef : $@ }, $class;
}

# Dies with a message for the user if an option is wrong, or if the server cannot listen. plackup -L Delayed sets
# psgi_app_builder: code that makes the application. Each process that serves calls it.
sub run {
    my ($self, $app) = @_;
    Bontebok::StandardStreams::fill();
    my $options   = $self->{options} // Bontebok::UserError::refuse_again($self->{refusal});
    my $public    = Bontebok::PublicFiles::open($options);
    my $listeners = Bontebok::Listeners->open($options);
    my $build     = $self->{psgi_app_builder} // sub { $app };
    my $announce  = sub { $self->_announce($listeners) };
    return _serve_alone($options, $public, $listeners, $build, $announce)
      if $options->get('max_workers') == 0 || !Bontebok::Shared::is_possible();
    my $life = Bontebok::WorkerLife->new($self, $options, $public, $listeners, $build);
    Bontebok::Prefork->new($options, $listeners, work => sub { $life->live(@_) }, ready => $announce)->run;
    return;
}

sub _serve_alone {
    my ($options, $public, $listeners, $build, $announce) = @_;
    my $app    = $build->();
    my $worker = Bontebok::Worker->new($options, $public, $listeners);
    $listeners->close;
    $worker->run($app, $announce);
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
