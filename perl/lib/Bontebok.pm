package Bontebok;

use 5.016;
use strict;
use warnings;

use IO::File ();          # the classes of psgi.input, psgi.errors and of bodies
use PerlIO::scalar ();    # psgi.input reads a string
use XSLoader ();

our $VERSION = '0.1.0';

XSLoader::load(__PACKAGE__, $VERSION);

1;

__END__

=head1 NAME

Bontebok - application server for PSGI

=head1 SYNOPSIS

    plackup -s Bontebok -E deployment --listen /run/app.sock app.psgi

=head1 DESCRIPTION

Bontebok serves a PSGI application over HTTP/1.1. Its core is written in C. See L<Plack::Handler::Bontebok>.

=head1 LICENSE

MIT

=cut
