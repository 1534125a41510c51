package OwnWarnings;

# With PERL5OPT=-MOwnWarnings, each perl process of a run notes the warnings that come from the files of this
# distribution. The first process, which is prove, prints them at its end, and its exit status is then not 0. bin/test
# uses this module, because a test does not see what its server prints.

use strict;
use warnings;

use Fcntl qw(O_APPEND O_CREAT O_EXCL O_WRONLY);

use constant VARIABLE => 'BONTEBOK_TEST_WARNINGS';

# Test files warn on purpose; what they use must not.
use constant OWN => qr{ at (?:\S*/)?(?:blib/(?:lib|arch)|t/lib)/\S+ line \d+};

my $owner;
if (!defined $ENV{+VARIABLE}) {
    $owner = $$;
    $ENV{+VARIABLE} = sprintf '%s/bontebok-warnings-%d-%d', $ENV{TMPDIR} // '/tmp', $$, time;
    sysopen my $file, $ENV{+VARIABLE}, O_WRONLY | O_CREAT | O_EXCL or die "$ENV{+VARIABLE}: $!";
}

# A test that sets a handler of its own expects the warning.
$SIG{__WARN__} = sub {
    my ($text) = @_;
    note($text) if $text =~ OWN;
    print STDERR $text;
};

sub note {
    my ($text) = @_;
    local $!;
    sysopen my $file, $ENV{+VARIABLE}, O_WRONLY | O_APPEND or return;
    syswrite $file, "$0: $text";
    return;
}

END {
    if (defined $owner && $owner == $$) {
        my $path = $ENV{+VARIABLE};
        my $text = do { local (@ARGV, $/) = ($path); <> };
        unlink $path;
        if (defined $text && length $text) {
            print "Warnings of our own files:\n$text";
            $? = 1;
        }
    }
}

1;
