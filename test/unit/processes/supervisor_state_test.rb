# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/supervisor"
require "bontebok/processes/supervisor/state"

# Tests Supervisor::State: the values that a supervisor passes to the program that takes its place.
class SupervisorStateTest < Support::TestCase
  STATE = Bontebok::Supervisor::State

  def setup
    @pipe = IO.pipe
  end

  def teardown
    @pipe.each(&:close)
  end

  def test_values_pass_through_the_environment
    env = STATE.of("workers" => 2, "drains" => nil).variable
    state = STATE.take(env)
    assert_empty env
    assert_equal [2, nil, nil], [state.fetch("workers"), state["drains"], state["none"]]
    assert_raises(KeyError) { state.fetch("none") }
    state.check
  end

  def test_another_version
    state = STATE.of({}).with("protocol" => STATE::PROTOCOL + 1, "version" => "9.9")
    error = assert_raises(Bontebok::StartError) { state.check }
    assert_equal "this version cannot take the place of bontebok 9.9: restart the server", error.message
  end

  def test_what_is_no_state
    error = assert_raises(Bontebok::StartError) { STATE.take({ STATE::VARIABLE => "{" }) }
    assert_equal "BONTEBOK_SUPERVISOR_STATE wants the state of a supervisor", error.message
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
