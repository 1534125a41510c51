# frozen_string_literal: true

require "test_helper"
require "bontebok/cli/status/observed_memory"

# Files in memory that the test makes, as `bontebok status` reads them.
class ObservedMemoryTest < Support::TestCase
  def setup
    skip "no files are shared" if Bontebok::Core::PORTABLE
    super
    @opened = []
  end

  def teardown
    [*@opened, *@memory].each(&:close)
    super
  end

  # Its scoreboard has another layout than the supervisor's. The supervisor cannot read it.
  def test_a_master_can_have_its_own_scoreboard
    supervisors = scoreboard
    masters = scoreboard # this process is the master
    Bontebok::Core::Scoreboard.new(2, masters.fileno).draining = true
    look({ "scoreboard" => [supervisors], "totals" => [totals], "counter" => [supervisors], "queue" => [masters] })
    assert_equal [true, false], [@memory.draining?, @memory.hidden?]
    assert_nil @memory.waiting # the master has its own queue, too
    assert_nil @memory.fault
  end

  # The supervisor has another version than this command, and so has a master.
  def test_a_scoreboard_that_cannot_be_read_may_show_workers
    look({ "scoreboard" => [scoreboard, other_layout], "totals" => [totals] }, [])
    assert_predicate @memory, :hidden?
    assert_match(/\Athe workers lack those of another version of Bontebok: /, @memory.fault)
    look({ "scoreboard" => [other_layout], "totals" => [totals] }, [])
    assert_predicate @memory, :hidden?
    assert_match(/\Athe numbers of this server cannot be read: /, @memory.fault)
  end

  def test_totals_that_cannot_be_read
    look({ "scoreboard" => [scoreboard], "totals" => [totals, other_layout] }, [])
    assert_match(/\Athe totals lack those of another version of Bontebok: /, @memory.fault)
    assert_equal [false, false], [@memory.hidden?, @memory.uncounted?]
    look({ "scoreboard" => [scoreboard], "totals" => [] }, [])
    assert_predicate @memory, :uncounted?
    assert_equal "the totals of this server cannot be read: no process shows them", @memory.fault
  end

  # A server that has started again has other totals. The descriptors differ in each answer.
  def test_the_source_of_the_totals
    same = { "scoreboard" => [scoreboard], "totals" => [totals, totals] }
    first, again = Array.new(2) { look(same).source }
    assert_equal [first, 2], [again, first.size]
    refute_equal first, look({ "scoreboard" => [scoreboard], "totals" => [totals] }).source
    assert_empty look({ "scoreboard" => [scoreboard], "totals" => [other_layout] }, []).source
    assert_empty look({ "scoreboard" => [scoreboard] }, []).source
  end

  private

  def look(descriptors, masters = [Process.pid])
    descriptors = descriptors.transform_values { |files| files.map(&:dup) }
    @memory&.close
    @memory = Bontebok::ObservedMemory.of(descriptors, masters)
  end

  def scoreboard = keep(Bontebok::Core::Scoreboard.file(2))
  def totals = keep(Bontebok::Core::Metrics.file(2))
  def other_layout = keep(IO.sysopen(__FILE__))
  def keep(number) = IO.for_fd(number).tap { |file| @opened << file }
end
