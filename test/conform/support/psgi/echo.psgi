# What ../application.ru does: responds with the env, in the same format. The names psgi.* become rack.*.
use strict;
use warnings;

my %ESCAPES = (
    "\n" => '\n',
    "\r" => '\r',
    "\t" => '\t',
    "\f" => '\f',
    "\x0b" => '\v',
    "\x08" => '\b',
    "\a" => '\a',
    "\e" => '\e',
    '"'  => '\"',
    '\\' => '\\\\',
);

# Ruby's String#dump.
sub dumped {
    my ($bytes) = @_;
    $bytes =~ s/([^ !#-\[\]-~])/$ESCAPES{$1} \/\/ sprintf '\\x%02X', ord $1/ge;
    $bytes =~ s/#(?=[{\$\@])/\\#/g;
    return qq("$bytes");
}

my @calls;

sub {
    my ($env) = @_;
    if ($env->{PATH_INFO} eq '/calls') {
        my $list = join "\n", splice @calls;
        return [200, ['Content-Type' => 'text/plain'], [$list]];
    }
    $env->{'psgi.input'}->read(my $text, $env->{CONTENT_LENGTH} // 0);
    push @calls, "$env->{REQUEST_METHOD} $env->{REQUEST_URI}";
    my $body = '';
    for my $name (grep { defined $env->{$_} && !ref $env->{$_} } keys %$env) {
        $body .= ($name =~ s/\Apsgi\./rack./r) . '=' . dumped($env->{$name}) . "\n";
    }
    $body .= 'body=' . dumped($text) . "\n";
    return [200, ['Content-Type' => 'text/plain', 'Content-Length' => length $body], [$body]];
}
