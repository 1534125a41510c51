package Bontebok::StandardStreams;

# Gives /dev/null to a process that was started without standard streams (>&-). Otherwise their numbers belong to files
# that Perl opens first, for example the script: then a worker fails when it flushes STDOUT, and the output of a library
# in C goes to a file or to a client. Bontebok::Inherited has the other descriptors of the start.

use strict;
use warnings;

use Fcntl qw(F_GETFL O_ACCMODE O_RDONLY O_RDWR O_WRONLY);
use POSIX ();

# Call this before the server opens a descriptor.
sub fill {
    _fill(@$_) for [0, \*STDIN, O_WRONLY], [1, \*STDOUT, O_RDONLY], [2, \*STDERR, O_RDONLY];
    return;
}

# wrong: the mode of a file that is no such stream. The script can also be read from STDIN's number. If the application
# has closed the stream, its number may belong to a file of the application, and only a free number is taken.
sub _fill {
    my ($number, $stream, $wrong) = @_;
    my $flags = fcntl $stream, F_GETFL, 0;
    return if defined $flags && ($flags & O_ACCMODE) != $wrong && !_is_script($stream);
    my $null = POSIX::open('/dev/null', O_RDWR) // return;
    return if $null == $number;
    POSIX::dup2($null, $number) if defined $flags && fileno $stream == $number;
    POSIX::close($null);
    return;
}

sub _is_script {
    my ($stream) = @_;
    my ($file, $script) = map { join ' ', (stat)[0, 1] } $stream, $0;
    return $file eq $script;
}

1;
