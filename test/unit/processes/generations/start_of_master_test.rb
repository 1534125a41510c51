# frozen_string_literal: true

require "test_helper"
require "json"
require "minitest/mock"
require "bontebok/bontebok"
require "bontebok/config/config"
require "bontebok/processes/generations/generation"
require "bontebok/processes/generations/start_of_master"
require_relative "../../support/generations/fake_listeners"
require_relative "../../support/generations/fake_process"

# Tests what the supervisor answers an executed master. This test speaks for the master.
class StartOfMasterTest < Support::TestCase
  include FakeListeners::Parts

  PID = 4711

  def setup
    @supervisor, @master = Bontebok::Handshake.pair
    @pipe = IO.pipe
    @totals = Totals.new([])
    @listeners = FakeListeners.new([], Links.new([], @totals))
    @former = Bontebok::Generation::Setup.new(1, "1", config, @listeners)
    @setup = Bontebok::Generation::Setup.new(2)
    @start = Bontebok::StartOfMaster.new(FakeProcess.new(PID), @supervisor, nil, :canary)
  end

  def teardown
    [@master, @supervisor, *@pipe, *@got].each { |one| one.close unless one.is_a?(IO) && one.closed? }
    super
  end

  def test_the_supervisor_waits_for_the_message
    assert_equal [[@supervisor.to_io], false, false], [@start.sources, @start.asked?, @start.answered?]
    say(request)
    assert_predicate @start, :asked?
    assert answer
    assert_equal [[], false, true, :canary], [@start.sources, @start.asked?, @start.answered?, @start.canary]
  end

  def test_the_setup_is_that_of_the_message
    say(request(workers: 3, version: "9.9", addresses: { "app:80" => ["127.0.0.1"] }, layouts: [1, 2]))
    numbers = nil
    assert(answer { |*arguments| (numbers = [arguments, @setup.config.workers]) && {} })
    assert_equal [[], 3], numbers # the block is called when the setup is known
    assert_equal ["9.9", 3, @listeners], [@setup.version, @setup.config.workers, @setup.listeners]
    address = Bontebok::Address.restore("app:80")
    assert_equal ["127.0.0.1"], @listeners.names.resolve(address).map(&:ip_address)
    assert_equal [[:bind], [PID, [1, 2], { links: false }]], [@listeners.steps, @totals.asked]
  end

  # Logs, links, the life line, listeners, totals: in this order.
  def test_the_master_gets_numbers_and_descriptors
    links, line, metrics = Array.new(3) { IO.pipe }
    socket = TCPServer.new("127.0.0.1", 0)
    @totals.files = metrics
    @listeners = FakeListeners.new([Listener.new("tcp", socket)], Links.new(links, @totals))
    @former.listeners = @listeners
    say(request)
    assert(answer(Struct.new(:to_io).new(line.first)) { { workers: 2, trial: 4 } })
    text, @got = @master.hear
    assert_equal({ "protocol" => 1, "generation" => 2, "workers" => 2, "trial" => 4, "links" => 2, "life_line" => true,
                   "metrics" => 2, "metrics_shared" => true, "stored" => false,
                   "listeners" => [{ "address" => "tcp", "origin" => nil, "file" => nil, "shared" => false }] }, text)
    sent = [$stderr, $stdout, *links, line.first, socket, *metrics]
    assert_equal(sent.map { |io| io.stat.ino }, @got.map { |io| io.stat.ino })
    refute_predicate socket, :closed?
  ensure
    [*links, *line, *metrics, socket].compact.each(&:close)
  end

  # The kernel passes a limited number of descriptors. An older version of Bontebok sends no layouts.
  def test_totals_are_left_out_if_a_message_has_no_room
    @totals.files = [@pipe.first] * Bontebok::Handshake::MOST
    say(request)
    assert answer
    text, @got = @master.hear
    assert_equal [Bontebok::Handshake::MOST - 2, Bontebok::Handshake::MOST], [text["metrics"], @got.size]
  end

  # --- refusals ---

  def test_another_protocol_is_refused
    say(request(protocol: 2, version: "9.9"))
    assert_refused "bontebok 9.9 cannot be deployed: restart the server"
    assert_nil @setup.config
  end

  def test_max_workers_0_is_refused
    say(request(workers: 0))
    assert_refused "max_workers 0 needs a restart of the server"
  end

  def test_an_address_that_cannot_be_bound_is_refused
    @listeners.fault = Bontebok::StartError.new("cannot listen on x: \xFF")
    say(request)
    assert_refused "cannot listen on x: \u{FFFD}"
    assert_equal %i[bind discard], @listeners.steps
  end

  # A log file that cannot be opened, for example.
  def test_what_cannot_be_sent_is_refused
    say(request)
    Bontebok::LogFiles.stub(:files, ->(_) { raise Bontebok::StartError, "no log" }) { assert_refused "no log" }
    assert_equal %i[bind discard], @listeners.steps
  end

  # --- malformed messages ---

  { "no values" => {}, "no config" => { protocol: 1 }, "a config of another type" => { protocol: 1, config: 7 },
    "a config without values" => { protocol: 1, config: {} }, "a list" => [1], "a text" => "x" }.each do |name, text|
    define_method("test_#{name.tr(' ', '_')}") do
      say(text)
      refute answer
      assert @master.hear.first.key?("error")
      assert_predicate @start, :answered?
    end
  end

  { workers: "many", chosen: nil, listen: 7, values: [] }.each do |key, value|
    define_method("test_a_wrong_value_of_#{key}") do
      data = request
      say(data.merge(config: data[:config].merge(key => value)))
      refute answer
      assert @master.hear.first.key?("error")
    end
  end

  def test_what_is_no_json_gets_no_answer
    @master.to_io.send("nonsense", 0)
    refute answer
    assert_nil @master.hear
  end

  def test_a_master_that_has_ended_gets_no_answer
    @master.close
    assert_predicate @start, :asked?
    refute answer
    assert_predicate @start, :answered?
  end

  def test_a_master_that_ends_before_the_answer
    say(request)
    @master.close
    refute answer
    assert_equal %i[bind discard], @listeners.steps
  end

  private

  def config = Bontebok::Config.new({ max_workers: ["2"] }, env: {})

  def request(workers: 2, **others)
    data = JSON.parse(JSON.generate(Bontebok::SupervisorConfig.dump(config)), symbolize_names: true)
    { protocol: 1, version: "1", config: { **data, workers: workers }, addresses: {}, layouts: nil, **others }
  end

  def say(message) = @master.say(message)

  def answer(life_line = nil, &numbers)
    @start.answer(@setup, @former, life_line: life_line, &numbers || proc { {} })
  end

  def assert_refused(text)
    refute answer
    assert_equal [{ "protocol" => 1, "error" => text }, []], @master.hear
  end
end
