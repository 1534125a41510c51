#!/usr/bin/perl
# A CGI script. cgi_test.rb calls it compiled into the server's process, and as a program.
use strict;
use warnings;

use CGI         ();
use Digest::SHA ();

my $query  = CGI->new;
my $action = $query->path_info // '';

if ($action eq '/env') {
    print $query->header('text/plain');
    print map { "$_=" . ($ENV{$_} // 'none') . "\n" }
      qw(GATEWAY_INTERFACE REQUEST_METHOD SCRIPT_NAME PATH_INFO QUERY_STRING SERVER_PROTOCOL HTTP_X_OWN);
} elsif ($action eq '/upload') {
    my $file = $query->upload('file');
    my $sum  = Digest::SHA->new(256)->addfile($file);
    print $query->header('text/plain');
    print join ' ', scalar $query->param('note'), scalar $query->param('file'), -s $file, $sum->hexdigest;
} elsif ($action eq '/bytes') {
    print $query->header('application/octet-stream');
    binmode STDOUT;
    print map { chr } 0 .. 255;
} elsif ($action eq '/cookies') {
    my $count = ($query->cookie('count') // 0) + 1;
    print $query->header(-type => 'text/plain', -cookie => [map { $query->cookie($_ => $count) } qw(count copy)]);
    print $count;
} elsif ($action eq '/away') {
    print $query->redirect('http://localhost/elsewhere');
} elsif ($action eq '/die') {
    die "on purpose\n";
} else {
    print $query->header(-type => 'text/plain', -status => '404 Not here');
    print "nothing at $action\n";
}
