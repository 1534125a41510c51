# The tarball of `make dist` has all that a build needs: it builds, tests and installs without the checkout and without
# Ruby. This test is not in the tarball. In the tarball it runs one test, with BONTEBOK_TEST_LONG=1 all.
use strict;
use warnings;

use Cwd                qw(realpath);
use ExtUtils::Manifest ();
use File::Find         qw(find);
use File::Path         qw(mkpath rmtree);
use File::Temp         ();
use FindBin            ();
use Test::More;

my $root = realpath("$FindBin::Bin/../..");
my $temp = File::Temp->newdir;

# Modules that Perl finds by PERL5LIB stay, except those of the checkout.
$ENV{PERL5LIB} = join ':', grep { !/\A\Q$root\E/ } split /:/, $ENV{PERL5LIB} // '';
delete @ENV{qw(PERL5OPT PERL_MM_OPT PERL_MB_OPT BONTEBOK_CFLAGS)};

# The command `ruby` fails, and leaves a trace.
mkpath("$temp/bin");
write_file("$temp/bin/ruby", "#!/bin/sh\n>'$temp/ruby was called'\nexit 1\n");
chmod 0755, "$temp/bin/ruby";
$ENV{PATH} = "$temp/bin:$ENV{PATH}";

# ---- the tarball, from a copy of the checkout with all built files ----

mkpath(["$temp/checkout/core", "$temp/unpacked"]);
run($root, 'cp', '-R', 'perl', 'LICENSE', "$temp/checkout");
run($root, 'cp', '-R', 'core/src', 'core/include', "$temp/checkout/core");
run("$temp/checkout/perl", $^X, 'Makefile.PL');
run("$temp/checkout/perl", 'make', '-j2', 'dist');
my ($tarball) = glob "$temp/checkout/perl/Bontebok-*.tar.gz";
run("$temp/unpacked", 'tar', 'xzf', $tarball);
rmtree("$temp/checkout");
my ($dist) = glob "$temp/unpacked/*";

chdir $dist or die "$dist: $!";
$ExtUtils::Manifest::Quiet = 1;
my ($missing, $extra) = ExtUtils::Manifest::fullcheck();
is_deeply $missing, [], 'MANIFEST names no file that is not there';
is_deeply $extra,   [], 'MANIFEST names each file';
my @files = sort keys %{ ExtUtils::Manifest::maniread() };
for my $file (qw(LICENSE README.md META.json META.yml t/serve.t core/include/bontebok.h)) {
    ok((grep { $_ eq $file } @files), "$file is packed");
}
is_deeply [grep { m{(?:\.(?:a|bs|o|so)|(?:\A|/)Makefile|Bontebok\.c)\z|\A(?:blib|objects|xt|core/test)/} } @files], [],
  'no built file is packed';

# ---- the build. Without optimization the compiler needs a third of the time ----

run($dist, $^X, 'Makefile.PL');
my @warnings = grep { /warning:/ } split /^/, run($dist, 'make', '-j2', 'OPTIMIZE=-O0');
is_deeply \@warnings, [], 'the build gives no warning';
my @tests = $ENV{BONTEBOK_TEST_LONG} ? () : ('TEST_FILES=t/serve.t');
like run($dist, 'make', 'test', @tests), qr/^Result: PASS$/m, 'the tests pass';
run($dist, 'make', 'install', "DESTDIR=$temp/installed");

my %installed;
find(sub { $installed{$_} = $File::Find::dir }, "$temp/installed");
(my $modules = $installed{'Bontebok.so'}) =~ s{/auto/Bontebok\z}{};
chdir $root or die "$root: $!";
rmtree($dist);
my $program = 'print join " ", @INC{qw(Bontebok.pm Plack/Handler/Bontebok.pm)}, Bontebok->VERSION';
my ($version) = $tarball =~ /Bontebok-(.*)\.tar/;
is run($temp, $^X, "-I$modules", '-MPlack::Handler::Bontebok', '-e', $program),
  "$modules/Bontebok.pm $modules/Plack/Handler/Bontebok.pm $version", 'the installed server loads';
ok !-e "$temp/ruby was called", 'no step needs Ruby';

done_testing;

# Runs a command in a directory, and returns its output. A command that fails ends the test.
sub run {
    my ($directory, @command) = @_;
    my $pid = open(my $output, '-|') // die "fork: $!";
    if (!$pid) {
        open STDERR, '>&', \*STDOUT;
        chdir $directory and exec {$command[0]} @command;
        die "$command[0]: $!";
    }
    my $text = do { local $/; <$output> };
    close $output or BAIL_OUT("@command: $?\n$text");
    return $text // '';
}

sub write_file {
    my ($path, $text) = @_;
    open my $file, '>', $path or die "$path: $!";
    print {$file} $text;
    close $file or die "$path: $!";
    return;
}
