# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"
require "bontebok/sockets/worker_links"

# Tests how Totals passes the memory to executed processes, also to those of another version.
class TotalsTest < Support::TestCase
  LAYOUTS = Bontebok::Totals.layouts
  # The program of an executed process. Its arguments are the numbers of the descriptors.
  ATTACHED = <<~RUBY
    require "bontebok/bontebok"
    require "bontebok/sockets/shared/totals"
    totals = Bontebok::Totals.attach(ARGV.map { |number| IO.for_fd(Integer(number)) })
    totals.count("an event", 2)
    p totals.descriptors.map(&:close_on_exec?)
  RUBY

  def setup
    @opened = [@totals = Bontebok::Totals.open]
  end

  def teardown
    @opened.each(&:close)
    super
  end

  def test_an_executed_process_counts_in_the_same_memory
    number = @totals.descriptors.first.fileno
    output = IO.popen([RbConfig.ruby, "-I#{ROOT}/lib", "-e", ATTACHED, number.to_s, { number => number }], &:read)
    assert_equal "[true]\n", output
    @totals.count("an event")
    assert_equal 3, counted(@totals)
  end

  def test_an_unknown_reason_is_a_mistake
    assert_raises(KeyError) { @totals.ended("unknown", "text") }
    assert_raises(KeyError) { @totals.deployed("unknown", "text") }
  end

  def test_a_command_does_not_inherit_the_descriptor
    assert_equal([true], @totals.descriptors.map(&:close_on_exec?))
  end

  def test_only_the_servers_user_can_open_the_memory
    assert_equal 0o600, @totals.descriptors.first.stat.mode & 0o777
  end

  # The files are kept, so that a process with this layout gets them later.
  def test_a_memory_with_another_layout_is_kept
    change_layout(@totals.descriptors.first)
    other = attach(@totals)
    other.count("an event")
    assert_equal 1, other.memories.size
    assert_equal inodes(@totals), inodes(other).drop(1)
    change_layout(@totals.descriptors.first, "bontebok")
    back = attach(other)
    assert_equal [1, nil], all_counted(back)
  end

  def test_another_process_has_the_memory_for_itself
    other = Bontebok::Totals.attach(@totals.descriptors.map(&:dup), own: false)
    @opened << other
    assert_equal 2, other.memories.size
    other.count("an event")
    assert_equal [1, nil], [counted(other), counted(@totals)]
  end

  def test_a_master_with_the_same_layouts_shares_the_memory
    passed = @totals.pass(Process.pid, LAYOUTS, links: true)
    assert passed.shared
    assert_equal @totals.descriptors, passed.files
  end

  def test_a_master_with_another_scoreboard_gets_a_memory_of_its_own
    others = [[[LAYOUTS[0] + 1, LAYOUTS[1]], true], [LAYOUTS, false]]
    others.each_with_index do |(layouts, links), index|
      passed = @totals.pass(Process.pid, layouts, links: links)
      refute passed.shared
      assert_equal @totals.descriptors, passed.files.rotate(1).first(index + 1) + passed.files.first(1)
      master = Bontebok::Totals.attach(passed.files.map(&:dup))
      @opened << master
      master.count("an event")
    end
    assert_equal [nil, 1, 1], all_counted(@totals)
  end

  def test_a_master_with_other_totals_gets_nothing
    [nil, [LAYOUTS[0], LAYOUTS[1] + 1], [], [LAYOUTS[0]]].each do |layouts|
      assert_equal Bontebok::Totals::Passed.new([], false), @totals.pass(Process.pid, layouts, links: true)
    end
    assert_equal 1, @totals.descriptors.size
  end

  # A deploy can be repeated for ever.
  def test_a_memory_is_used_again_when_its_processes_have_ended
    ended = Process.spawn("true").tap { |pid| Process.wait(pid) }
    first = lend(ended)
    assert_equal first, lend(ended)
    lane = show_a_lane(first)
    second = lend(ended)
    refute_equal first, second
    assert_equal second, lend(ended)
    lane.itself
  end

  def test_the_number_of_memories_is_limited
    lent = Array.new(Bontebok::Totals::MOST) { lend(Process.pid) }
    assert_equal lent, lent.uniq
    assert_nil lend(Process.pid)
  end

  def test_a_process_of_the_application_keeps_only_the_memory
    Process.wait(fork do
      @totals.disown
      @totals.count("an event")
      exit!(@totals.descriptors.all?(&:closed?))
    end)
    assert_predicate Process.last_status, :success?
    assert_equal 1, counted(@totals)
  end

  # RLIMIT_FSIZE stands for a system that makes no files in memory.
  def test_without_a_file_the_forked_processes_share_the_memory
    Process.wait(fork do
      Process.setrlimit(:FSIZE, 1)
      totals = Bontebok::Totals.open
      Process.wait(fork { totals.count("an event") })
      nothing = Bontebok::Totals::Passed.new([], false)
      exit!(totals.descriptors.empty? && counted(totals) == 1 && totals.memories.size == 1 &&
            totals.pass(1, [LAYOUTS[0] + 1, LAYOUTS[1]], links: false) == nothing)
    end)
    assert_predicate Process.last_status, :success?
  end

  private

  def counted(totals) = all_counted(totals).first

  def all_counted(totals) = totals.memories.map { |metrics| metrics.totals[:names]["an event"] }

  def inodes(totals) = totals.descriptors.map { |io| io.stat.ino }

  def attach(totals)
    Bontebok::Totals.attach(totals.descriptors.map(&:dup)).tap { |attached| @opened << attached }
  end

  # Returns the file of the memory that a master with another scoreboard gets.
  def lend(pid) = @totals.pass(pid, [LAYOUTS[0] + 1, LAYOUTS[1]], links: true).files.first

  # Returns a lane of this process that counts in the memory.
  def show_a_lane(file)
    totals = Bontebok::Totals.attach([file.dup]).tap { |attached| @opened << attached }
    worker = Bontebok::Core::Worker.new
    worker.scoreboard(Bontebok::Core::Scoreboard.new(Bontebok::Totals::LANES))
    totals.connect(worker, 1, 1)
    Bontebok::Core::Lane.new(worker, ->(_env) {}, report: ->(*) {})
  end

  def change_layout(file, name = "another!")
    File.open("/proc/self/fd/#{file.fileno}", "r+") { |io| io.pwrite(name, 0) }
  end
end
