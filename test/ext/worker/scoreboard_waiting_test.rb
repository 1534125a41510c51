# frozen_string_literal: true

require "socket"
require "test_helper"
require "bontebok/bontebok"

# Scoreboard#waiting: how many requests wait in the shared queue. core/test/system/shared_queue_look_test.c has rules.
class ScoreboardWaitingTest < Support::TestCase
  def setup
    skip "one process has a queue of its own" if Bontebok::Core::PORTABLE
    @counter = Bontebok::Core::Scoreboard.new(1)
    @in, @out = Socket.pair(:UNIX, :SEQPACKET)
  end

  def teardown
    [@in, @out].compact.each(&:close)
    super
  end

  def test_a_request_that_waits_is_shown_and_stays
    assert_nil @counter.waiting(@out.fileno)
    send_stamp(since: now - 2_000_000, request: 1)
    2.times do
      count, oldest = @counter.waiting(@out.fileno)
      assert_equal 1, count
      assert_in_delta 3.0, oldest, 1.0
    end
    @out.recv(100)
    assert_nil @counter.waiting(@out.fileno)
  end

  def test_a_message_without_a_request_does_not_count
    send_stamp(since: now, request: 0)
    assert_nil @counter.waiting(@out.fileno)
  end

  def test_another_descriptor_has_no_requests
    number = @out.fileno
    @out.close
    assert_nil @counter.waiting(number)
    assert_nil @counter.waiting(-1)
    assert_raises(TypeError) { @counter.waiting("a file") }
  end

  private

  # struct bb__shared_stamp
  def send_stamp(since:, request:)
    @in.send([0, since, request, 0].pack("QQCCx6"), 0)
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)
end
