package Bontebok::Log;

# The server's log on STDERR: a line has the time in UTC, the level, the process, and the message, as in the log of the
# Ruby server. If an entry has several lines, all lines after the first are indented.

use strict;
use warnings;

use Errno       ();
use POSIX       ();
use Time::HiRes ();

# Bytes of an entry; the rest is cut.
use constant LONGEST => 65_536;

# exception: undef, or what the application has thrown: a text or any object.
sub report {
    my ($level, $message, $exception) = @_;
    local ($@, $!, $?);
    $message .= ': ' . _text_of($exception) if defined $exception;
    _write(_entry($level, $message));
    return;
}

# For the master, which must not wait for the log's reader: then no signal would reach it, and nobody would look after
# the workers. A line that the reader does not take at once is lost.
my $lost = 0;

sub report_at_once {
    my ($level, $message) = @_;
    return ++$lost unless _is_writable();
    $message .= " (earlier lines are lost, because nobody reads the log: $lost)" if $lost;
    $lost = 0;
    return report($level, $message);
}

# A pipe is writable if a line of the master fits.
sub _is_writable {
    my $descriptor = tied *STDERR ? undef : fileno STDERR;
    return 1 if !defined $descriptor || $descriptor < 0;
    vec(my $set = '', $descriptor, 1) = 1;
    my $count = select undef, $set, undef, 0;
    return $count;
}

# An object may have no text: its overloading may die.
sub _text_of {
    my ($exception) = @_;
    my $text;
    eval { $text = "$exception"; 1 } or $text = 'an exception that cannot be shown, of ' . ref $exception;
    $text =~ s/ at \Q$INC{'Bontebok\/Worker.pm'}\E line [0-9]+.*\z//s;    # the server's own line says nothing
    return $text;
}

sub _entry {
    my ($level, $message) = @_;
    utf8::encode($message) if utf8::is_utf8($message);
    substr($message, LONGEST) = '...' if length $message > LONGEST;
    $message =~ s/\s+\z//;
    # Bytes that are no UTF-8, and UTF-8's own control characters, would also control a terminal.
    my $high = utf8::decode(my $copy = $message) ? qr/\xc2[\x80-\x9f]/ : qr/[\x80-\xff]/;
    $message =~ s/[^\t\n\x20-\x7e\x80-\xff]|$high/join '', map { sprintf '\\x%02x', ord } split m{}, $&/ge;
    $message =~ s/\n/\n  /g;
    my $now  = Time::HiRes::time();
    my $time = POSIX::strftime('%Y-%m-%dT%H:%M:%S', gmtime $now);
    return sprintf "%s.%03dZ %s %d - - %s\n", $time, ($now - int $now) * 1000, $level, $$, $message;
}

# One call of write(2) per entry, so that entries of several processes do not mix. An entry has bytes, also if the
# application has pushed layers on STDERR. A STDERR without a descriptor, for example in memory, has only print.
sub _write {
    my ($entry) = @_;
    my $descriptor = tied *STDERR ? undef : fileno STDERR;
    return _print($entry) if !defined $descriptor || $descriptor < 0;
    while (length $entry) {
        my $written = POSIX::write($descriptor, $entry, length $entry);
        next if !defined $written && $!{EINTR};
        return unless $written;
        substr $entry, 0, $written, '';
    }
    return;
}

sub _print {
    my ($entry) = @_;
    local ($,, $\);
    no warnings qw(closed unopened);    ## no critic (TestingAndDebugging::ProhibitNoWarnings)
    print {*STDERR} $entry;
    return;
}

1;
