# Responds with 4 MiB: the numbers 0, 1, 2, ... in lines of eight bytes. The path selects the kind of the body. The
# parts have different sizes.
use strict;
use warnings;

my $numbers = join '', map { sprintf "%07d\n", $_ } 0 .. 524_287;

sub parts {
    my @parts;
    for (my $at = 0; $at < length $numbers; $at += length $parts[-1]) {
        push @parts, substr $numbers, $at, 65_536 - 997 * (@parts % 16);
    }
    return @parts;
}

package Lines {
    sub getline { return shift @{ $_[0] } }
    sub close   { print STDERR "closed\n"; return }    ## no critic (Subroutines::ProhibitBuiltinHomonyms)
}

# Is destroyed with the env.
package Request {
    sub begin   { my ($class, $path) = @_; print STDERR "begun $path\n"; return bless \$path, $class }
    sub DESTROY { my ($self) = @_; print STDERR "ended $$self\n"; return }
}

sub write_all {
    my ($respond) = @_;
    my $writer = $respond->([200, []]);
    $writer->write($_) for parts();
    $writer->close;
    return;
}

sub file {
    open my $file, '+>', 'numbers' or die "numbers: $!";
    print {$file} $numbers;
    seek $file, 0, 0;
    return $file;
}

my %responses = (
    '/small'  => sub { [200, [], ['small']] },
    '/array'  => sub { [200, [], [parts()]] },
    '/lines'  => sub { [200, [], bless([parts()], 'Lines')] },
    '/writer' => sub { \&write_all },
    '/file'   => sub { [200, [], file()] },
);

sub {
    my ($env) = @_;
    $env->{request} = Request->begin($env->{PATH_INFO});
    return $responses{ $env->{PATH_INFO} }->();
}
