# Responds with the worker's process id, the listener's name and port, the file of the server's code, and the variables
# of start_server that the server has left.
use strict;
use warnings;

sub {
    my ($env) = @_;
    my @left = grep { exists $ENV{$_} } qw(SERVER_STARTER_PORT LISTEN_FDS);
    my $code = $INC{'Plack/Handler/Bontebok.pm'};
    return [200, ['Content-Type' => 'text/plain'], [join ' ', $$, @{$env}{qw(SERVER_NAME SERVER_PORT)}, $code, @left]];
};
