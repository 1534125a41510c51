# Options of workers, and the settings of the core as options: which values the server takes, and its messages about
# wrong ones.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok::Options ();
use Command           ();
use Test::More;

my $directory = File::Temp->newdir;

sub options { return Bontebok::Options->new({@_}) }

# ---- settings ----

# Names with "_", and a value that is no default.
my %settings = (
    max_target               => '20K',
    max_field_bytes          => 70_000,
    max_fields               => 50,
    max_body                 => '1M',
    allow_underscore_headers => 'on',
    header_timeout           => '5s',
    body_timeout             => '500ms',
    min_body_rate            => '1K',
    write_timeout            => 7,
    keepalive_timeout        => '1m',
    keepalive_drain          => 1.5,
    graceful_timeout         => '1h',
    max_connections          => 100,
    spool_threshold          => '64KiB',
    spool_max                => '2G',
    response_buffer          => 65_536,
    request_timeout          => 30,
    check_client_connection  => 'true',
    queue_timeout            => 5,
    max_queue                => 10,
    chunked_transfer         => 'off',
    spool_dir                => "$directory",
    trusted_proxies          => 'unix 10.0.0.0/8 2001:db8::/32',
    access_log               => "$directory/log",
    access_log_format        => 'json',
    health_paths             => '/up /down',
    ready_path               => '/ready',
    live_path                => '/live',
);
for my $name (sort keys %settings) {
    is options($_ => $settings{$name})->settings->{$name}, $settings{$name}, $_ for $name, $name =~ tr/_/-/r;
}
my $times = options(timeout => 5, header_timeout => 6)->settings;
is "@$times{qw(header_timeout body_timeout write_timeout)}", '6 5 5', '--timeout and a setting that is part of it';

is options(trusted_proxies => 'none')->settings->{trusted_proxies}, '', '--trusted-proxies none';

# plackup passes 1 for --enable-NAME, and an empty text for --disable-NAME.
for my $name (qw(allow_underscore_headers check_client_connection chunked_transfer)) {
    is options($name => '')->settings->{$name}, 'off', "--disable-$name";
    is options($name => 1)->settings->{$name}, 1, "--enable-$name";
}

# ---- workers ----

is options('workers' => 3)->get('max_workers'), 3, '--workers';
is options('max-requests' => 3)->get('max_reqs_per_child'), 3, '--max-requests';
is options()->get('max_workers'), 10, 'the default number of workers';
is options()->get('max_reqs_per_child'), 1000, 'the default limit of requests';

# The options, and the least and the highest number of requests of a worker.
for my $row (
    [[max_reqs_per_child => 0], 0, 0],
    [[max_reqs_per_child => 1], 1, 1],
    [[max_reqs_per_child => 8], 6, 8],
    [[max_reqs_per_child => 5, min_reqs_per_child => 4], 4, 5],
    [[max_reqs_per_child => 5, min_reqs_per_child => 5], 5, 5],
    [[max_reqs_per_child => 5, min_reqs_per_child => 6], 5, 5],
    [[max_reqs_per_child => 0, min_reqs_per_child => 6], 0, 0],
  ) {
    my ($given, $least, $most) = @$row;
    my $options = options(@$given);
    my %seen    = map { $options->requests_per_child => 1 } 1 .. 200;
    is join(' ', sort keys %seen), join(' ', $least .. $most), "requests per worker: @$given";
}

my $code = sub { 1 };
is options(child_exit => $code)->get('child_exit'), $code, 'child_exit as code';
is options(child_exit => 'sub { "own $_[0]" }')->get('child_exit')->('x'), 'own x', 'child_exit as text';

# ---- mistakes ----

my $size   = 'must be a size such as 65536, 64K, 1M or 2G, not';
my $time   = 'must be a time such as 30, 0.5, 500ms, 2m or 1h, not';
my $number = 'must be a whole number';
my $exit   = '--child-exit must be the text of a code reference, such as "sub { ... }"';
my @wrong  = (
    (map { [$_ => 1, 'unknown option --' . tr/_/-/r] } qw(server_name max_keepalive_requests request_timeout_soft
      worker_timeout x_sendfile unbuffered_bodies)),
    (map { [$_ => '1x', '--' . tr/_/-/r . " $size '1x'"] } qw(max_target max_field_bytes max_body min_body_rate
      spool_threshold spool_max response_buffer)),
    (map { [$_ => '1x', '--' . tr/_/-/r . " $time '1x'"] } qw(header_timeout body_timeout write_timeout keepalive_drain
      graceful_timeout request_timeout queue_timeout spawn_interval err_respawn_interval)),
    (map { [$_ => -1, '--' . tr/_/-/r . " $number, not '-1'"] } qw(max_fields max_connections max_queue)),
    (map { [$_ => 'x', '--' . tr/_/-/r . " must be true or false, not 'x'"] } qw(allow_underscore_headers
      check_client_connection chunked_transfer)),
    [max_body           => '',        "--max-body $size ''"],
    [request_timeout    => '',        "--request-timeout $time ''"],
    [spool_dir          => 'x' x 256, "--spool-dir must have at most 255 bytes, not '" . 'x' x 256 . q(')],
    [access_log_format  => '%Q',      'the access log: format: unknown directive %Q'],
    [access_log         => 'syslog:x=y', 'the access log: syslog: unknown setting "x"'],
    [trusted_proxies    => '10.0.0.0/33', "--trusted-proxies has no such networks: '10.0.0.0/33'"],
    [workers            => 1001,      '--max-workers must be at most 1000'],
    [ready_path         => 'ready',   q(--ready-path must begin with /, not 'ready')],
    [live_path          => '',        q(--live-path must begin with /, not '')],
    [spool_dir          => '/dev/null', '--spool-dir /dev/null is no directory that this process may write to'],
    [workers            => 'x',       "--max-workers $number from 0 on, not 'x'"],
    [max_reqs_per_child => '1k',      "--max-reqs-per-child $number from 0 on, not '1k'"],
    [max_requests       => -1,        "--max-reqs-per-child $number from 0 on, not '-1'"],
    [min_reqs_per_child => 0,         "--min-reqs-per-child $number from 1 on, not '0'"],
    [child_exit         => [],        $exit],
    [child_exit         => 'sub {',   $exit],
    [child_exit         => '"text"',  $exit],
    [child_exit         => 'die "a\nb"', $exit],
);
for my $row (@wrong) {
    my ($name, $value, $message) = @$row;
    my %given = ($name => $value, $name eq 'access_log_format' ? (access_log => '-') : ());
    ok !eval { options(%given); 1 }, "$name=$value: an exception";
    is $@, "bontebok: $message\n", "$name=$value: the message";
}

# The command: one of each kind. plackup takes --access-log for itself.
for my $row (
    ['--max-body=1x',                   "--max-body $size '1x'"],
    ['--disable-queue-timeout',         "--queue-timeout $time ''"],
    ['--check_client_connection=maybe', "--check-client-connection must be true or false, not 'maybe'"],
    ['--worker-timeout=5',              'unknown option --worker-timeout'],
    ['--trusted-proxies=10.0.0.0/x',    "--trusted-proxies has no such networks: '10.0.0.0/x'"],
    ["--access_log=$directory/a/b",     "the access log $directory/a/b: No such file or directory"],
    ['--child-exit=sub { }}',           $exit],
    ['--min-reqs-per-child=x',          "--min-reqs-per-child $number from 1 on, not 'x'"],
  ) {
    my ($argument, $message) = @$row;
    is_deeply [Command->run('--max-workers', 2, $argument)], [2, "bontebok: $message\n"], $argument;
}

done_testing;
