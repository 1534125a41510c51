package Bontebok::Children;

# The workers of a master (Bontebok::Prefork): it keeps one of each number, by these rules:
#
#   - A worker is replaced when it asks for it (its limit of requests, harakiri, exit, no free descriptor), when it
#     ends, when a request hangs in it, when it stays stopped, and when it is outdated. A worker that serves goes on
#     until the next one of its number is ready.
#   - A worker that ends before it is ready has failed. The next one is started after a pause (Bontebok::Pauses). A
#     worker that ends later is replaced at once.
#   - A worker that starts is never ended because it is outdated: perhaps it has just become ready.

use strict;
use warnings;

use Bontebok         ();
use Bontebok::Child  ();
use Bontebok::Log    ();
use Bontebok::Pauses ();
use Bontebok::Roster ();

# work: called in each new process with the process ID of the master, the socket to it, and the Bontebok::Shared. It
# never returns. ready: called when the first worker is ready. clock: a Bontebok::Clock.
sub new {
    my ($class, $options, $clock, %calls) = @_;
    my $count = $options->get('max_workers');
    my $self  = {
        %calls,
        roster     => Bontebok::Roster->new($count),
        shared     => Bontebok::Shared->new(2 * $count + 1),
        clock      => $clock,
        pauses     => Bontebok::Pauses->new($options->seconds('err_respawn_interval')),
        graceful   => $options->seconds('graceful_timeout'),
        interval   => $options->seconds('spawn_interval'),
        next_start => 0,
    };
    return bless $self, $class;
}

sub all { return $_[0]{roster}->all }

sub _now { return $_[0]{clock}->now }

# The descriptors of the channels.
sub descriptors { return map { $_->channel ? fileno $_->channel : () } $_[0]->all }

# When workers must be killed, and when they may be started.
sub deadlines { return map { $_->deadline // () } $_[0]->all }

sub starts {
    my ($self) = @_;
    return $self->{next_start}, map { $self->{pauses}->over($_) } $self->{roster}->numbers;
}

# True if each number has failed at its first start.
sub has_failed {
    my ($self) = @_;
    return $self->{ready} && !grep { !$self->{pauses}->has_failed($_) } $self->{roster}->numbers;
}

# ---- orders ----

# order: of Bontebok::Child.
sub order_all {
    my ($self, $order, $seconds) = @_;
    $_->order($order, $self->_now, $seconds) for $self->all;
    return;
}

# The workers leave their connections and the listeners' queues to others, and end.
sub retire {
    my ($self, @children) = @_;
    $_->order('leave', $self->_now, $self->{graceful}) for @children;
    return;
}

# After HUP. Workers that are missing because of failures are started at once.
sub outdate_all {
    my ($self) = @_;
    $_->outdate for $self->all;
    $self->{pauses}->cut_short;
    return;
}

# Kills the workers and waits for their end.
sub kill_all {
    my ($self) = @_;
    $_->kill_now for $self->all;
    waitpid $_->pid, 0 for $self->all;
    $self->{roster}->clear;
    return;
}

sub kill_late {
    my ($self) = @_;
    for my $child ($self->all) {
        my $fault = $child->fault($self->_now) // next;
        _log("@{[$child->name]} $fault and is killed");
        $child->kill_now;
    }
    return;
}

# ---- what workers say and do ----

# Reads the words of all workers.
sub hear { my ($self) = @_; $self->_hear($_) for $self->all; return }

sub _hear {
    my ($self, $child) = @_;
    for my $word ($child->hear) {
        if    ($word eq 'ready')   { $self->_note_ready($child) }
        elsif ($word eq 'stuck')   { $self->_note_stuck($child) }
        elsif ($word eq 'emptied') { $child->kill_now }
        elsif ($word eq 'closed')  { $child->note_closed($self->_now, $self->{graceful}) }
        elsif ($word eq 'leave' || $word eq 'starved') { $child->outdate }
    }
    return;
}

sub _note_ready {
    my ($self, $child) = @_;
    $child->note_ready;
    $self->{pauses}->ready($child->number);
    $self->retire($self->{roster}->former($child)) if $self->{roster}->has($child);
    (delete $self->{ready} || return)->();
    return;
}

# The label is read before the worker is killed: it is the worker's memory.
sub _note_stuck {
    my ($self, $child) = @_;
    my $label = $self->{shared}->label($child->pid);
    _log("$label has taken longer than --request-timeout: @{[$child->name]} is replaced");
    $child->note_stuck($self->_now);
    return;
}

# Finds out whether the worker has ended, was stopped, or continues.
sub reap {
    my ($self, $child) = @_;
    my ($state, $status) = Bontebok::Process::state($child->pid) or return;
    return $child->note_stopped($self->_now) if $state eq 'stopped';
    return $child->note_continued            if $state eq 'continued';
    $child->note_ended;
    $self->{roster}->remove($child);
    $self->_hear($child);    # its last words: it has left the roster, so it takes nobody's place
    $self->{shared}->clear($child->pid);
    $self->_note_end($child, $status) unless $child->is_leaving && $child->may_end_by_signal;
    return;
}

# A worker has ended, but no signal of the master has ended it. Perhaps it had already ended when it was told to leave.
sub _note_end {
    my ($self, $child, $status) = @_;
    my $was_ready = $child->has_been_ready;
    my $how = $status & 127 ? 'by signal ' . ($status & 127) : 'with exit status ' . ($status >> 8);
    _log("@{[$child->name]} has ended " . ($was_ready ? $how : "before it was ready, $how")) if $status || !$was_ready;
    return if $child->is_leaving;
    return $self->{pauses}->ended($child->number, $child->started) if $was_ready;
    return $self->{pauses}->failed($child->number, $self->_now);
}

sub _log { my ($text) = @_; return Bontebok::Log::report_at_once('error', $text) }

# ---- starts ----

# Starts the workers that are missing, unless they must wait.
sub fill {
    my ($self) = @_;
    for my $number ($self->{roster}->numbers) {
        my $time = $self->_now;
        next if $time < $self->{next_start} || $time < $self->{pauses}->over($number);
        $self->_start($number) if $self->{roster}->needs($number);
    }
    return;
}

sub _start {
    my ($self, $number) = @_;
    my $now  = $self->_now;
    my $work = sub {
        my ($parent, $channel) = @_;
        $self->{roster}->clear;
        $self->{work}->($parent, $channel, $self->{shared});
    };
    my $child = Bontebok::Child->start($number, $now, $work);
    if (!$child) {
        _log("cannot start worker $number: $!");
        return $self->{pauses}->refused($now);
    }
    $self->{roster}->add($child);
    $self->{next_start} = $now + $self->{interval};
    return;
}

1;
