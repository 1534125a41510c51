# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/sockets/control/control_client"
require "bontebok/sockets/control/newcomer"

# Tests Newcomer: a server has asked this server for its listeners. The test is the other server.
class NewcomerTest < Support::TestCase
  def setup
    @other, connection = UNIXSocket.pair
    @newcomer = Bontebok::Newcomer.new(Bontebok::ControlClient.new(connection))
  end

  def teardown
    [@other, @newcomer].each(&:close)
  end

  def test_a_server_that_shares_the_queue
    assert_predicate @newcomer, :starting?
    say(queue: true)
    assert_equal [false, true, false], state
    @other.close
    assert_equal [false, false, true], state
    refute_predicate @newcomer.to_io, :closed?
  end

  def test_a_server_that_stops_at_the_same_time
    say(queue: true)
    @newcomer.leave
    assert_nil @other.read(1)
    assert_predicate @newcomer, :takes_over?
    @other.shutdown(:WR)
    refute_predicate @newcomer, :takes_over?
  end

  def test_a_server_that_stops_learns_that_this_one_continues
    say(queue: true)
    @other.shutdown(:WR)
    @newcomer.hear
    @newcomer.dismiss
    assert_match(/this server continues/, @other.read)
  end

  def test_a_server_that_shares_only_listeners
    say(queue: false)
    assert_equal [false, false, false], state
  end

  def test_a_server_that_ends_before_it_is_ready
    @other.write("{")
    assert_predicate @newcomer, :starting?
    @other.close
    assert_equal [false, false, true], state
  end

  def test_a_client_that_never_stops_to_send
    2.times do
      @other.write("x" * Bontebok::ControlMessage::LONGEST)
      @newcomer.hear
    end
    assert @newcomer.gone? # the message of assert_predicate would have all bytes
  end

  def test_a_server_that_sends_something_else
    @other.write("something else\n")
    assert_equal [false, false, false], state
  end

  # The listeners could not be sent to the other server.
  def test_a_connection_that_was_closed
    socket = @newcomer.to_io.tap(&:close)
    assert_equal [false, false, true], state
    @newcomer = Bontebok::Newcomer.new(Bontebok::ControlClient.new(socket))
    assert_equal [false, false, true], state
  end

  def test_a_client_that_is_no_server_counts_for_five_seconds
    File.stub(:foreach, ["7f00 /lib/libc.so.6"]) do
      assert starting_after?(4.9)
      refute starting_after?(5.1)
    end
  end

  def test_a_process_about_which_nothing_is_known_may_be_a_server
    File.stub(:foreach, ->(*) { raise Errno::EACCES }) { assert starting_after?(60) }
  end

  def test_a_server_counts_until_it_is_ready
    File.stub(:foreach, ["7f00 /gems/bontebok/bontebok.so"]) { assert starting_after?(60) }
    assert starting_after?(120), "is not looked up again"
    say(queue: true)
    refute_predicate @newcomer, :starting?
  end

  def test_a_process_that_has_ended_is_no_server
    Process.stub(:kill, ->(*) { raise Errno::ESRCH }) { refute starting_after?(60) }
  end

  private

  def starting_after?(seconds)
    time = Bontebok::Clock.now + seconds
    Bontebok::Clock.stub(:now, time) { @newcomer.starting? }
  end

  def say(message) = @other.write(Bontebok::ControlMessage.line(message))

  def state = [@newcomer.starting?, @newcomer.takes_over?, @newcomer.gone?]
end
