# frozen_string_literal: true

require "test_helper"
require "io/wait"
require "minitest/mock"
require "bontebok/processes/forked_process"
require "bontebok/system/signal_queue"

# Tests ForkedProcess with real processes.
class ForkedProcessTest < Support::TestCase
  SIGNALS = Bontebok::QuietSignals::NAMES

  def setup
    @former = SIGNALS.to_h { |signal| [signal, Signal.trap(signal, "DEFAULT")] }
    @events = Bontebok::SignalQueue.new(*SIGNALS)
    @processes = []
  end

  def teardown
    @processes.each do |process|
      process.kill
      eventually { process.check || process.ended? }
      process.channel.close
    end
    @events.close
    @former.each { |signal, handler| Signal.trap(signal, handler || "DEFAULT") }
  end

  # Signals that a process gets right after the fork, before it has its own handlers. For example, a terminal sends INT
  # and HUP to all processes of its group.
  def test_signals_do_not_end_a_child_before_it_has_handlers_of_its_own
    process = begin_process { receive_all && 3 }
    assert_equal "exit status 3", ending(process)
  end

  # The process still has its parent's handlers.
  def test_signals_do_not_end_a_child_right_after_the_fork
    fork_process = Process.method(:_fork)
    fork_and_receive = -> { fork_process.call.tap { |pid| receive_all if pid.zero? } }
    process = Process.stub(:_fork, fork_and_receive) { begin_process { 3 } }
    assert_equal "exit status 3", ending(process)
    assert_empty @events.take
  end

  def test_a_fork_that_fails_leaves_nothing_behind
    pair = Bontebok::Channel.pair
    Bontebok::Channel.stub(:pair, pair) do
      Process.stub(:fork, -> { raise Errno::EAGAIN }) do
        assert_raises(Errno::EAGAIN) { Bontebok::ForkedProcess.fork { 0 } }
      end
    end
    assert(pair.all? { |channel| channel.to_io.closed? })
    assert_empty Bontebok::Channel.all & pair
  end

  def test_no_child_keeps_the_parents_ends_of_channels
    2.times { begin_process { |channel| channel.say(:ready) && sleep } }
    @processes.each { |process| wait_for_word(process) }
    ours = @processes.map { |process| process.channel.to_io.fileno }
    ours = Support::ProcessTable.descriptors(Process.pid).values_at(*ours)
    refute_includes ours, nil
    @processes.each { |process| assert_empty Support::ProcessTable.descriptors(process.pid).values & ours }
  end

  # The loop sends the words when the process reads. The socket has no room for all of them.
  def test_a_child_that_reads_late_gets_all_words
    wait, reads = IO.pipe
    process = begin_process { |channel| wait.read(1) && count(channel, :reopen) }
    511.times { process.tell(:reopen) }
    process.loaded
    refute_empty process.channel.unsent
    process.leave(:quit, 60)
    reads.write(".")
    eventually { (Bontebok::Channel.flush && process.check) || process.ended? }
    assert_equal 255, process.status.exitstatus
  ensure
    [wait, reads].each(&:close)
  end

  def test_a_process_that_loads_is_ended_by_a_signal_and_gets_no_other_word
    process = begin_process do |channel|
      Signal.trap("TERM") { exit!(channel.hear == %i[quit] ? 4 : 5) }
      channel.say(:prepared) && sleep
    end
    wait_for_word(process)
    process.tell(:reopen)
    process.leave(:quit, 60)
    assert_equal "exit status 4", ending(process)
  end

  def test_a_process_that_executes_another_program_is_deaf
    process = begin_process { exec("sleep", "60") }
    now = Bontebok::Clock.now
    eventually { process.hear && process.deaf? }
    assert_operator process.lost_at, :>=, now + Bontebok::ForkedProcess::MOMENT
    process.check
    refute_predicate process, :ended?
  end

  def test_the_end_of_a_process_is_unknown_if_other_code_reaps_it
    process = begin_process { 3 }
    Process.wait(process.pid)
    process.check
    assert_equal ["unknown status", nil], [process.ending, process.status]
    process.signal(:TERM) # would reach nobody
  end

  def test_only_a_signal_that_users_send_ends_a_process_by_a_user
    killed, sent, crashed = Array.new(3) { begin_process { sleep } }
    killed.kill("did not end")
    sent.signal(:KILL)
    crashed.signal(:ALRM)
    endings = @processes.map { |process| ending(process) }
    assert_equal ["killed by SIGKILL", "killed by SIGKILL", "killed by SIGALRM"], endings
    assert_equal [false, true, false], @processes.map(&:ended_by_user?)
    assert_equal ["did not end", nil], [killed.fault, sent.fault]
  end

  private

  def begin_process(&)
    Bontebok::ForkedProcess.fork(to_close: [@events], &).tap { |process| @processes << process }
  end

  def receive_all
    SIGNALS.each { |signal| Process.kill(signal, Process.pid) }
  end

  def wait_for_word(process) = eventually { process.hear.any? }

  # Runs in the process. Returns how often the word comes before :quit.
  def count(channel, word)
    words = []
    words.concat(channel.hear) until words.include?(:quit) || !channel.to_io.wait_readable
    words.count(word)
  end

  def ending(process) = eventually { process.check || process.ending }
end
