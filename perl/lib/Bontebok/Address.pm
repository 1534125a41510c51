package Bontebok::Address;

# Reads the text of --listen. Bontebok::Listeners opens the address. The forms after "unix:" are those of the Ruby
# server. As in other servers for PSGI, a text that is nothing else is a path, in which no character is special.

use strict;
use warnings;

use Bontebok::UserError qw(refuse);
use File::Glob          ();

# Returns 'tcp', the host (empty: all of IPv4) and the port; or 'path' and the path; or 'name' and the abstract name.
# Dies with a message for the user.
sub parse {
    my ($text) = @_;
    return _parse_unix($text, $1) if $text =~ /\Aunix:(.+)\z/s;
    if ($text =~ m{\A(?:tcp://)?(?:\[([^]]*)\]|([^:/]*)):([0-9]+)\z}) {
        my ($host, $port) = ($1 // $2, $3);
        return ('tcp', $host eq '*' ? '' : $host, $port);
    }
    return ('tcp', '', $text) if $text =~ /\A[0-9]+\z/;
    $text =~ m{\A[^/]*:[0-9]*\z|\A\[|\A\w+://|\Assl:} || $text eq ''
      and refuse("--listen '$text' is no address such as 127.0.0.1:5000, [::1]:5000 or /run/app.sock");
    return ('path', $text);
}

# Servers read some texts in different ways: puma takes //tmp/a for a relative path, nginx for an absolute one.
sub _parse_unix {
    my ($text, $path) = @_;
    $path =~ /%20|[?#]/
      and refuse("--listen $text: puma reads %20, ? and # in a unix path otherwise than nginx: write it without unix:");
    $path =~ m{\A//([^/\@].*)\z}s
      and refuse("--listen $text: write unix:///$1 (as nginx reads it) or unix:$1 (as puma reads it)");
    $path =~ s{\A//(?=\@)}{};
    $path eq '@' || $path eq '//' and refuse("--listen $text: a path or \@name must be after unix:");
    return ('name', $1) if $path =~ /\A\@(.+)\z/s;
    $path =~ s{\A/+}{/};
    $path =~ s{\A(~[^/]*)}{_home($text, $1)}e;
    return ('path', $path);
}

sub _home {
    my ($text, $name) = @_;
    my ($home) = File::Glob::bsd_glob($name, File::Glob::GLOB_TILDE() | File::Glob::GLOB_NOMAGIC());
    defined $home && $home ne $name or refuse("--listen $text: there is no such user");
    return $home;
}

1;
