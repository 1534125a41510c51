# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/processes/supervisor"
require "bontebok/processes/supervisor/state"

# Tests Supervisor::State: the values that a supervisor passes to the program that takes its place.
class SupervisorStateTest < Support::TestCase
  STATE = Bontebok::Supervisor::State
  VALUES = { "config" => {}, "user" => [nil, nil], "directory" => "/", "umask" => 18, "pidfile" => nil,
             "generation" => 1, "serving" => [1, "1.0"], "workers" => 2, "masters" => [], "listeners" => [],
             "stored" => false, "links" => [], "metrics" => [], "shared" => true, "life_line" => nil,
             "control" => nil }.freeze

  def setup
    @pipe = IO.pipe
  end

  def teardown
    @pipe.each(&:close)
  end

  def test_values_pass_through_the_environment
    env = STATE.of(VALUES).variable
    state = STATE.take(env)
    assert_empty env
    assert_equal [2, nil, nil], [state.fetch("workers"), state["drains"], state["none"]]
    assert_raises(KeyError) { state.fetch("none") }
    state.check
  end

  # Another version may have other values, but the message is about the version.
  def test_another_version
    others = VALUES.merge("protocol" => STATE::PROTOCOL + 1, "umask" => nil)
    assert_raises(Bontebok::StartError) { STATE.take(STATE.of(others).variable).check }
    state = STATE.of({}).with("protocol" => STATE::PROTOCOL + 1, "version" => "9.9")
    error = assert_raises(Bontebok::StartError) { state.check }
    assert_equal "this version cannot take the place of bontebok 9.9: restart the server", error.message
  end

  def test_what_is_no_state
    wrong = VALUES.map { |name, _| VALUES.merge(name => 1.5) } + [VALUES.merge("masters" => nil), {}]
    texts = wrong.map { |values| STATE.of(values).variable[STATE::VARIABLE] }
    ["{", "[]", "{}", "null", *texts].each do |text|
      error = assert_raises(Bontebok::UsageError, text) { STATE.take({ STATE::VARIABLE => text }) }
      assert_equal "BONTEBOK_SUPERVISOR_STATE wants the state of a supervisor, not #{text.inspect}", error.message
    end
  end

  def test_descriptors_must_be_open
    @pipe.each(&:close)
    [[1_000_000], [10**30], ["4"]].each do |numbers|
      env = STATE.of(VALUES.merge("links" => numbers)).variable
      assert_raises(Bontebok::UsageError, numbers.inspect) { STATE.take(env) }
    end
  end

  def test_descriptors_are_inherited_only_while_they_are_passed
    state = with_pipe
    state.pass_descriptors
    assert_equal [false, false], @pipe.map(&:close_on_exec?)
    state.pass_descriptors(pass: false)
    assert_equal [true, true], @pipe.map(&:close_on_exec?)
  end

  def test_the_state_gives_copies
    state = with_pipe
    reader, writer = state.copies("life_line")
    state.close
    assert_raises(Errno::EBADF) { @pipe.last.write("x") }
    writer.write("word")
    writer.close
    assert_equal "word", reader.read
    reader.close
    @pipe = []
  end

  private

  def with_pipe
    @pipe.each { |io| io.autoclose = false }
    STATE.of("life_line" => @pipe.map(&:fileno), "masters" => [])
  end
end
