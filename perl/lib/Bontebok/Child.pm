package Bontebok::Child;

# A worker, as its master (Bontebok::Prefork) sees it. The worker says words through its channel, and the master gives
# orders. A word or an order is one byte.
#
#     starting --ready--> serving --order--> leaving --> ended
#
# A worker that is to be replaced (outdated) serves until the next one of its number is ready. A worker may end in each
# state. The master kills it when it has not ended in time, when it hangs, and when it stays stopped (SIGSTOP).

use strict;
use warnings;

use Errno      qw(EAGAIN EINTR);
use IO::Handle ();
use POSIX      ();
use Socket     qw(AF_UNIX PF_UNSPEC SOCK_STREAM);

# In the order of Bontebok::Core's join. leave: the other workers take over what this one leaves. finish: all workers
# end. stop: the worker ends after its current request.
use constant WORDS  => qw(overdue stuck emptied starved leave ready);
use constant ORDERS => qw(leave finish stop);
use constant BYTES  => 'osedlrLFS';

# Seconds that a worker may stay stopped, and that a worker with a hanging request has to pass its connections on.
use constant { STOPPED_SECONDS => 5, STUCK_SECONDS => 1 };

my (%WORD_OF, %BYTE_OF);
@WORD_OF{ split //, BYTES } = (WORDS);
@BYTE_OF{ (ORDERS) } = split //, substr BYTES, scalar(my @words = WORDS);

# Forks. work: called in the new process with the process ID of the master and the socket to it; it ends the
# process. now: the time. Returns undef if the system has no process or no descriptor for it; $! has the reason.
sub start {
    my ($class, $number, $now, $work) = @_;
    socketpair my $master, my $worker, AF_UNIX, SOCK_STREAM, PF_UNSPEC or return;
    binmode $_ for $master, $worker;    # PERLIO may have layers
    my $parent = $$;
    my $pid    = fork() // return;    # without parentheses, a replaced fork would take the rest as its argument
    if (!$pid) {
        close $master;
        _live($work, $parent, $worker);
    }
    close $worker;
    $master->blocking(0);
    return bless { number => $number, pid => $pid, channel => $master, started => $now }, $class;
}

# Never returns. Without the block, `next` or `last` in the application's code would go on in a loop of the master, and
# the new process would be a second master.
sub _live {
    my ($work, @args) = @_;
    {
        eval { $work->(@args) };
    }
    POSIX::_exit(1);
}

sub number  { return $_[0]{number} }
sub pid     { return $_[0]{pid} }
sub started { return $_[0]{started} }
sub channel { return $_[0]{channel} }    # undef: closed
sub name    { return "worker $_[0]{number} (process $_[0]{pid})" }

# Returns the words that the worker has said. The word "closed" means that there will be no more.
sub hear {
    my ($self) = @_;
    my $channel = $self->{channel} or return;
    my $count   = sysread $channel, my $bytes, 4096;
    return if !defined $count && ($! == EAGAIN || $! == EINTR);
    return map { $WORD_OF{$_} // () } split //, $bytes if $count;
    delete $self->{channel};
    return 'closed';
}

# ---- states ----

sub has_been_ready { return $_[0]{ready} }
sub is_starting    { return !$_[0]{ready} && !$_[0]{leaving} }
sub is_serving     { return $_[0]{ready} && !$_[0]{leaving} }
sub is_leaving     { return $_[0]{leaving} }

# True if this worker serves, or will serve, and nobody takes its place.
sub is_current { return !$_[0]{outdated} && !$_[0]{leaving} }

sub note_ready { $_[0]{ready} = 1; return }
sub outdate    { $_[0]{outdated} = 1; return }

# From now on the system may give the process ID to another process.
sub note_ended { $_[0]{ended} = 1; return }

# A request hangs. When a kill is due anyway, the earlier time counts.
sub note_stuck {
    my ($self, $now) = @_;
    @{$self}{qw(outdated leaving)} = (1, 1);
    $self->_limit($now + STUCK_SECONDS, 'has a request that hangs');
    return;
}

# The master cannot hear the worker any more, because the application has closed its descriptors.
sub note_closed {
    my ($self, $now, $seconds) = @_;
    $self->{outdated} = 1;
    $self->_limit($now + $seconds, 'has closed its channel');
    return;
}

sub note_stopped   { my ($self, $now) = @_; $self->{stopped} = $now + STOPPED_SECONDS; return }
sub note_continued { delete $_[0]{stopped}; return }

# ---- orders ----

# seconds: after which the worker is killed. A worker that starts does not read orders, so it gets TERM in addition. If
# it has become ready in the meantime, TERM does no harm.
sub order {
    my ($self, $order, $now, $seconds) = @_;
    $self->{leaving} = 1;
    $self->_limit($now + $seconds, "has not ended after $seconds s");
    syswrite $self->{channel}, $BYTE_OF{$order} if $self->{channel};
    kill 'TERM', $self->{pid} unless $self->{ready} || $self->{ended};
    return;
}

sub kill_now {
    my ($self) = @_;
    @{$self}{qw(leaving killed)} = (1, 1);
    kill 'KILL', $self->{pid} unless $self->{ended};
    return;
}

# Whether a signal of the master may have ended the worker. TERM ends only a worker that has not been ready.
sub may_end_by_signal { return $_[0]{killed} || !$_[0]{ready} }

# When the next look is due, or undef.
sub deadline {
    my ($self) = @_;
    return if $self->{killed};
    my ($first) = sort { $a <=> $b } grep { defined } @{$self}{qw(limit stopped)};
    return $first;
}

# Why the worker must be killed now, or undef.
sub fault {
    my ($self, $now) = @_;
    return if $self->{killed};
    return $self->{reason} if defined $self->{limit} && $now >= $self->{limit};
    return 'stays stopped' if defined $self->{stopped} && $now >= $self->{stopped};
    return;
}

sub _limit {
    my ($self, $time, $reason) = @_;
    return if defined $self->{limit} && $self->{limit} <= $time;
    @{$self}{qw(limit reason)} = ($time, $reason);
    return;
}

1;
