# A worker is replaced after its limit of requests, signals, psgix.harakiri.commit and exit. The one worker loads at a
# gate, so each test knows which process may serve.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";

use Bontebok::Options ();
use PreforkServer;
use Test::More;

my $server = PreforkServer->start(
    workers => 1,
    load    => <<'LOAD',
        wait_at('load');
        {
            package CloseHook;
            sub new { my ($class, $text, $env) = @_; return bless { text => $text, env => $env }, $class }
            sub getline { return delete $_[0]{text} }
            sub close { $_[0]{env}{'psgix.harakiri.commit'} = 1 }
        }
LOAD
    args    => [qw(-L Delayed --max-reqs-per-child 200 --min-reqs-per-child 200)],
    ready   => sub { 1 },
    routes  => <<'ROUTES',
        '/harakiri' => sub { $_[0]{'psgix.harakiri.commit'} = 1; [200, [], [$$]] },
        '/no-harakiri' => sub { $_[0]{'psgix.harakiri.commit'} = 0; [200, [], [$$]] },
        '/harakiri-die' => sub { $_[0]{'psgix.harakiri.commit'} = 1; die "harakiri\n" },
        '/harakiri-stream' => sub {
            my ($env) = @_;
            return sub {
                my $writer = $_[0]->([200, []]);
                $writer->write($$);
                $env->{'psgix.harakiri.commit'} = 'yes';
                $writer->close;
            };
        },
        '/harakiri-close' => sub { my ($env) = @_; [200, [], CloseHook->new($$, $env)] },
        '/exit' => sub { exit 3 },
        '/die' => sub { die "only this request\n" },
ROUTES
);

my $first = $server->load->next;
$first->let_go;
my $pid = $first->pid;

# The worker serves until the next one is ready. Then the next one serves.
sub is_replaced {
    my ($name) = @_;
    my $new = $server->load->next;
    is $server->body('/'), $pid, "$name: the old worker serves while the new one loads";
    ends($name, $new, sub { $server->body('/') });
    return;
}

# Waits for the end of the old worker. Meanwhile, all requests are answered.
sub ends {
    my ($name, $new, $meanwhile) = @_;
    $new->let_go;
    my @bodies;
    my $ask = sub { push @bodies, $meanwhile->() if $meanwhile && @bodies < 20 };
    ok $server->lose([$pid], $ask), "$name: the old worker ends";
    is_deeply [grep { $_ ne $pid && $_ ne $new->pid } @bodies], [], "$name: no request is lost";
    $pid = $new->pid;
    is $server->body('/'), $pid, "$name: the new worker serves";
    is_deeply [$server->workers], [$pid], "$name: it is the only one";
    return;
}

my $request = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";
my $all     = $server->raw($request x 199 . $request =~ s/\n\K\r/Connection: close\r\n\r/r);
is scalar(() = $all =~ /\r\n\r\n$pid/g), 200, '--max-reqs-per-child: requests up to the limit';
is_replaced('--max-reqs-per-child');

for my $signal (qw(INT HUP)) {
    kill $signal, $pid;
    is $server->body('/'), $pid, "$signal to a worker does nothing";
}
for my $signal (qw(TERM QUIT)) {
    kill $signal, $pid;
    is_replaced("$signal to a worker");
}
kill 'HUP', $server->pid;
is_replaced('HUP');
is $server->log, '', 'nothing in the log';

# ---- the worker ends at once ----

for my $path (qw(/harakiri /harakiri-stream /harakiri-close)) {
    like $server->body($path), qr{\b$pid\b}, "$path: the response";
    ends($path, $server->load->next);
}
is $server->body('/no-harakiri'), $pid, 'psgix.harakiri.commit is false';
like $server->get('/die'), qr{\AHTTP/1\.1 500 }, 'die without harakiri';
is $server->body('/'), $pid, 'the worker goes on';
like $server->get('/harakiri-die'), qr{\AHTTP/1\.1 500 }, '/harakiri-die: the response';
ends('/harakiri-die', $server->load->next);
ok $server->log !~ /ended/, 'the log has no wrong end';

# Other clients have connected, and wait for the worker.
my $client = $server->send_get('/wait/exit');
my $in_app = $server->gate->next;
my @others = map { $server->send_get('/') } 1 .. 3;
$in_app->let_go;
like TestServer::read_all($client), qr{\AHTTP/1\.1 500 }, 'exit: the response';
my $last = $pid;
ends('exit', $server->load->next);
my @bodies = map { PreforkServer::body_of($_) } @others;
is_deeply [grep { $_ ne $last && $_ ne $pid } @bodies], [], 'exit: the others get their responses';
ok $server->logs(qr/^\S+ error $last - - GET \/wait\/exit: the application has called exit/m), 'exit: the log';
ok $server->logs(qr/ worker 1 \(process $last\) has ended with exit status 3$/m), 'exit: the status in the log';

is $server->stop, 0, 'the exit status';
ok $server->is_gone, 'no process is left';

# ---- limits ----

# Options, and the least and the greatest limit.
for my $row (
    [{}                                                  => 750, 1000],
    [{ max_reqs_per_child => 8 }                         => 6, 8],
    [{ max_requests => 1 }                               => 1, 1],
    [{ max_reqs_per_child => 5, min_reqs_per_child => 3 } => 3, 5],
    [{ max_reqs_per_child => 8, min_reqs_per_child => 9 } => 8, 8],
    [{ max_reqs_per_child => 0 }                         => 0, 0],
    [{ max_reqs_per_child => 0, min_reqs_per_child => 5 } => 0, 0],
  ) {
    my ($given, @want) = @$row;
    my @limits = sort { $a <=> $b } map { Bontebok::Options->new($given)->requests_per_child } 1 .. 2000;
    my $name   = join ' ', map { "$_ $given->{$_}" } sort keys %$given;
    cmp_ok $limits[0],  '>=', $want[0], "the least limit of requests with: $name";
    cmp_ok $limits[-1], '<=', $want[1], "the greatest limit of requests with: $name";
    my %seen = map { $_ => 1 } @limits;
    is scalar(keys %seen), 1 + $want[1] - $want[0], "all limits with: $name" if $want[1] < 100;
}

done_testing;
