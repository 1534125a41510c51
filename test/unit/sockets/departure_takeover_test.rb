# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require_relative "../support/log_case"
require "bontebok/sockets/departure/takeover"

# Tests how long a server waits for the newer servers of start_server.
class TakeoverTest < Minitest::Test
  include LogCase

  # The part of Bontebok::StartServer that Takeover uses.
  Starter = Struct.new(:newer, :owner)
  OURS = 10
  PATIENCE = 60

  def setup
    super
    @now = 100.0
    @starter = Starter.new([11], OURS)
    @takeover = takeover
  end

  def test_without_a_newer_server_nothing_is_awaited
    @starter.newer = []
    assert_equal [true, false], ends(takeover)
  end

  def test_a_newer_server_is_awaited_until_it_owns_the_socket
    assert_equal [false, false], ends
    assert_equal ["the server 11 is starting: this server serves until the other one is ready"], text_of(written)
    @starter.owner = 11
    assert_equal [false, false], ends, "not before the deadline"
    assert_equal [true, true], ends(later: 0.05)
  end

  # This server can be told to stop when the newer one has been ready for a long time.
  def test_a_newer_server_that_is_ready_is_not_awaited
    @starter.owner = 11
    assert_equal [true, true], ends
  end

  # A server that was the last to become ready may have ended.
  def test_another_owner_is_no_newer_server
    @starter.owner = 9
    assert_equal [false, false], ends
  end

  # start_server needs a moment to start the next server.
  def test_the_end_of_the_newer_server_must_be_seen_twice
    ends
    @starter.newer = []
    assert_equal [false, false], ends(later: 0.05)
    assert_equal [true, false], ends(later: 0.05)
  end

  def test_the_server_after_the_newer_one_is_awaited_as_long
    ends
    @starter.newer = []
    ends(later: PATIENCE - 1)
    @starter.newer = [12]
    assert_equal [false, false], ends(later: 1)
    assert_equal [false, false], ends(later: PATIENCE - 1)
    assert_equal [true, false], ends(later: 1)
    assert_match(/ warn .* the server 12 is not ready after 60 s: this server stops$/, written)
  end

  def test_the_wait_can_be_unlimited
    @takeover = takeover(Float::INFINITY)
    assert_equal [false, false], ends
    assert_equal [false, false], ends(later: 1_000_000)
  end

  def test_a_further_signal_ends_the_wait_unless_it_comes_with_yet_another_server
    ends
    @starter.newer = [11, 12]
    @takeover.insist
    assert_equal [false, false], ends(later: 0.05)
    @takeover.insist
    assert_equal [true, false], ends
  end

  private

  def takeover(patience = PATIENCE)
    Bontebok::Clock.stub(:now, @now) do
      Bontebok::Departure::Takeover.new(@starter, patience: patience, log: @log)
    end
  end

  # Returns whether the wait is over, and whether a newer server serves. later: seconds since the last call.
  def ends(takeover = @takeover, later: 0)
    @now += later
    Bontebok::Clock.stub(:now, @now) { [takeover.over?, takeover.taken_over].map { |value| value || false } }
  end
end
