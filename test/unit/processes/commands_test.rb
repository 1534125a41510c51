# frozen_string_literal: true

require "test_helper"
require_relative "../support/log_case"
require "bontebok/processes/commands"

# Tests which block obeys an order, and what a client hears if there is none, or if it fails.
class CommandsTest < Support::TestCase
  include LogCase

  # A ControlClient.
  Client = Struct.new(:result) do
    def finish(*result) = self.result = result
  end
  # A Loop.
  Events = Struct.new(:handlers) do
    def on(event, &block) = (self.handlers ||= {})[event] = block
  end

  def setup
    super
    @commands = Bontebok::Commands.new(@log)
    @obeyed = []
    @commands.on("TERM", :restart) { |event| @obeyed << event }
    @commands.answer("deploy", "stop") { |request, client| client.finish(0, request["command"]) }
  end

  def test_signals_and_events_reach_their_block_through_a_loop
    events = Events.new
    @commands.connect(events)
    events.handlers.each { |event, block| block.call(event) }
    assert_equal ["TERM", :restart], @obeyed
  end

  def test_an_order_can_be_given_again_in_the_name_of_another_signal
    @commands.give("TERM")
    @commands.give("TERM", "HUP")
    @commands.give(:loaded)
    assert_equal %w[TERM HUP], @obeyed
  end

  def test_a_command_is_answered
    assert_equal([[0, "deploy"], [0, "stop"]], %w[deploy stop].map { |name| result(name) })
  end

  # A request cannot give a signal.
  def test_an_unknown_command_is_refused
    assert_equal [2, 'unknown command "TERM"'], result("TERM")
    assert_equal [2, "unknown command nil"], result(nil)
  end

  def test_a_command_for_workers_says_so
    assert_equal [1, "the command workers needs workers: this server has one process (-w 0)"], result("workers")
  end

  def test_a_failure_does_not_end_the_process
    @commands.answer("wrong") { raise Bontebok::ControlMessage::Invalid, "a number is missing" }
    @commands.answer("broken") { raise IOError, "no disk" }
    assert_equal [2, "a number is missing"], result("wrong")
    assert_equal [1, "no disk"], result("broken")
    assert_match(/the command broken has failed/, written)
  end

  private

  def result(name)
    client = Client.new
    @commands.obey({ "command" => name }, client)
    client.result
  end
end
