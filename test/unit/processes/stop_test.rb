# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require_relative "../support/log_case"
require "bontebok/processes/commands"
require "bontebok/processes/effective"
require "bontebok/processes/stop"

# Tests the way of a server to its end.
class StopTest < Support::TestCase
  include LogCase

  class Links
    attr_accessor :draining
    attr_reader :handed_over

    def hand_over = @handed_over = true
    def pids = []
  end

  # The Listeners: none. So all addresses are left at once.
  class NoListeners < Array
    attr_accessor :other, :start_server

    def worker_links = @worker_links ||= Links.new
  end

  # The Arrivals, and an OtherServer.
  Others = Struct.new(:starting?, :continue) do
    def leave(*) = continue
  end
  Service = Struct.new(:released?, :ticks) do
    def tick = self.ticks = ticks.to_i + 1
  end
  Config = Struct.new(:drain_delay, :worker_boot_timeout) do
    def seconds(name) = self[name]
  end
  # A ControlClient.
  Client = Struct.new(:said) do
    def finish(*text) = self.said = text
    alias_method :say, :finish
  end

  def setup
    super
    @others = Others.new(false, false)
    @service = Service.new(true)
    @listeners = NoListeners.new
    @commands = Bontebok::Commands.new(@log)
    @stopped = []
    @announced = []
  end

  def test_without_a_delay_and_other_servers_the_workers_stop_in_the_next_turn
    stop = make
    assert_equal [false, false, false], state(stop)
    stop.begin(ready: true)
    assert_equal [true, true, false], state(stop)
    assert_empty @stopped
    stop.tick
    assert_equal [:retire], @stopped
    stop.end(:retire)
    assert_equal [true, true, true], state(stop)
    stop.tick
    assert_equal [:retire], @stopped
  end

  def test_the_delay_comes_first
    stop = make(delay: 5)
    at(0) { stop.begin(ready: true) }
    assert_equal [[true, false, false], 105.0, true], [state(stop), stop.deadline, stop.announced?]
    assert_equal [[true], ["draining: stops in 5 s"]], [@announced, text_of(written)]
    at(4.9) { stop.tick }
    refute_predicate stop, :leaves?
    at(5) { stop.tick }
    assert_equal [[:retire], 1], [@stopped, @service.ticks]
  end

  def test_a_second_signal_ends_the_delay
    stop = make(delay: 5)
    2.times { at(0) { stop.begin(ready: true) } }
    assert_equal [true, 1], [stop.leaves?, @service.ticks]
    at(6) { stop.tick }
    assert_equal [[:retire], 1], [@stopped, @service.ticks]
  end

  def test_a_server_that_is_not_ready_has_no_delay
    stop = make(delay: 5)
    stop.begin(ready: false)
    assert_equal [true, false, []], [stop.leaves?, stop.announced?, @announced]
  end

  # INT, or a deploy that was canceled, has told the workers to end. Nobody waits for the delay.
  def test_a_signal_after_the_end_begins_no_delay
    stop = make(delay: 5)
    stop.end(:quit)
    stop.begin(ready: true)
    assert_nil stop.deadline
  end

  def test_a_closed_terminal_leaves_out_the_delay_or_the_rest_of_it
    stop = make(delay: 5)
    stop.skip_delay("the terminal is closed")
    assert_equal ["the terminal is closed"], text_of(written)
    stop.begin(ready: true)
    assert_equal [[true, true, false], []], [state(stop), @announced]
    stop = make(delay: 5)
    at(0) { stop.begin(ready: true) }
    stop.skip_delay("the terminal is closed")
    assert_equal [true, nil], [stop.leaves?, stop.deadline]
    at(6) { stop.tick }
    assert_equal [:retire], @stopped
  end

  # If the workers closed their listeners before, connections would be lost.
  def test_the_service_manager_releases_the_listeners_first
    stop = make
    @service[:released?] = false
    stop.leave
    assert_equal 1, @service.ticks
    stop.tick
    assert_empty @stopped
    @service[:released?] = true
    stop.tick
    assert_equal [:retire], @stopped
  end

  def test_a_server_that_starts_is_awaited
    stop = make
    @others[:starting?] = true
    at(0) { stop.leave }
    at(1) { stop.tick }
    assert_empty @stopped
    assert_in_delta 101.02, stop.deadline
    @others[:starting?] = false
    at(2) { stop.tick }
    assert_equal [:retire], @stopped
  end

  def test_clients_are_told_at_the_end_unless_another_server_continues
    links = @listeners.worker_links
    make.end(:quit)
    assert_equal [true, [true], nil], [links.draining, @announced, links.handed_over]
    @others.continue = true
    make.end(:drain)
    assert_equal [[true], true], [@announced, links.handed_over]
  end

  def test_only_the_first_reason_to_leave_counts
    stop = make
    stop.leave(failed: true)
    stop.leave
    assert_predicate stop, :failed?
  end

  def test_the_command_drain
    stop = make
    assert_equal [0, "load balancers are told to choose other servers"], answer("drain")
    assert_equal [true, true, [true]], [stop.drains?, stop.announced?, @announced]
    assert_equal [0, "the server takes new clients"], answer("resume")
    assert_equal [false, [true, false]], [stop.drains?, @announced]
    stop.leave
    assert_equal [1, "the server stops"], answer("drain")
  end

  def test_the_command_stop_gives_a_signal
    make
    given = []
    @commands.on("TERM", "INT") { |signal| given << signal }
    assert_equal [0, "the server stops"], answer("stop")
    assert_equal ["the server stops"], answer("stop", "wait" => true, "now" => true)
    assert_equal %w[TERM INT], given
  end

  private

  def make(delay: 0)
    parts = { commands: @commands, arrivals: @others, service: @service, log: @log }
    announce = ->(drains) { @announced << drains }
    effective = Bontebok::Effective.new(Config.new(delay, 60), @listeners)
    Bontebok::Stop.new(effective, **parts, announce: announce) { |how| @stopped << how }
  end

  def state(stop) = [stop.begun?, stop.leaves?, stop.ends?]

  def answer(command, more = {})
    client = Client.new
    @commands.obey({ "command" => command, **more }, client)
    client.said
  end

  def at(seconds, &)
    Bontebok::Clock.stub(:now, 100.0 + seconds, &)
  end
end
