package Table;

# A table of applications and of the responses that they must get, as bytes. Each application answers two requests: one
# on a connection that it ends, and one on a connection on which another request follows.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;
use TestServer ();

our @EXPORT_OK = qw(check full chunked failed);

my $TYPE = "content-type: text/plain; charset=utf-8\r\n";

# A whole response. fields: lines with their ends.
sub full {
    my ($status, $fields, $body) = @_;
    my $length = defined $body ? sprintf("Content-Length: %d\r\n", length $body) : '';
    return join '', "HTTP/1.1 $status\r\n$fields${length}Connection: close\r\n\r\n", $body // '';
}

sub chunked {
    my ($fields, @parts) = @_;
    my $body = join '', map { sprintf "%x\r\n%s\r\n", length $_, $_ } @parts;
    return "HTTP/1.1 200 OK\r\n${fields}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body}0\r\n\r\n";
}

sub failed { return full('500 Internal Server Error', $TYPE, "500 Internal Server Error\n") }

# Rows are hashes: name; app; want: the response; log: a pattern, undef: the server logs nothing; closes: the body says
# "closed /N" on STDERR when it is closed; method: GET; fields: of the request, with their ends; ends: true: the
# connection ends with the response.
sub check {
    my @rows   = @_;
    my $server = TestServer->start(
        sub {
            my ($env) = @_;
            return [200, [], ['next']] if $env->{PATH_INFO} eq '/next';
            return $rows[ substr $env->{PATH_INFO}, 1 ]{app}->($env);
        }
    );
    for my $number (0 .. $#rows) {
        my $row  = $rows[$number];
        my $next = "GET /next HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
        $row->{single} = $server->raw(_request($row, $number, "Connection: close\r\n"));
        $row->{kept}   = $server->raw(_request($row, $number, '') . $next);
        s/^Date: [^\r\n]*\r\n//mg for @{$row}{qw(single kept)};
    }
    is $server->stop, 0, 'exit status';
    my @log = split /\n/, $server->log;
    _check_row($rows[$_], $_, @log) for 0 .. $#rows;
    is_deeply [grep { !m{^(?:\d{4}-\S+Z \w+ \d+ - - | |closed /)} } @log], [], 'no line of others in the log';
    return;
}

sub _request {
    my ($row, $number, $fields) = @_;
    my $method = $row->{method} // 'GET';
    return join '', "$method /$number HTTP/1.1\r\nHost: test\r\n", $row->{fields} // '', "$fields\r\n";
}

sub _check_row {
    my ($row, $number, @log) = @_;
    my ($name, $kept) = ($row->{name}, $row->{want});
    $kept =~ s/^Connection: close\r\n//m or die "the response of $name has no field Connection";
    $kept .= full('200 OK', '', 'next') unless $row->{ends};
    is $row->{single}, $row->{want}, $name;
    is $row->{kept}, $kept, "$name: the connection after it";
    my @lines = grep { m{ - - \w+ /$number\b} } @log;
    if (defined $row->{log}) {
        is scalar(grep { $_ =~ $row->{log} } @lines), 2, "$name: the log" or diag "the log has: @lines";
    } else {
        is "@lines", '', "$name: nothing in the log";
    }
    is scalar(grep { $_ eq "closed /$number" } @log), 2, "$name: the body is closed once" if $row->{closes};
    return;
}

1;
