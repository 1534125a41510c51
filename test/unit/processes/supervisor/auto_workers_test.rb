# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/processes/supervisor/auto_workers"

# Tests how many workers `max_workers auto` gets, and the reason for the log.
class AutoWorkersTest < Support::TestCase
  AutoWorkers = Bontebok::Supervisor::AutoWorkers
  MEGABYTE = 1 << 20
  # Megabytes. A worker of the first application needs 50 MB, of the second 212 MB.
  PRELOADED = [100, 10].freeze
  ALONE = [30, 200].freeze
  # [CPUs, limit, memory, surge, generations] => workers. The estimate may use 80 % of the limit.
  TABLE = {
    [8, 64_000, PRELOADED, 0, 2] => 8,
    [8, 1250, PRELOADED, 0, 2] => 8, # 200 MB and 16 workers
    [8, 1249, PRELOADED, 0, 2] => 7,
    [8, 512, PRELOADED, 0, 2] => 2,
    [8, 512, PRELOADED, 1, 2] => 3, # 200 MB and 4 workers
    [8, 512, PRELOADED, 2, 2] => 2,
    [8, 512, PRELOADED, 9, 2] => 2,
    [8, 512, PRELOADED, 0, 1] => 3, # 100 MB and 6 workers
    [8, 512, ALONE, 0, 2] => 1,
    [8, 1024, ALONE, 0, 2] => 1,
    [8, 2048, ALONE, 0, 2] => 3,
    [8, 512, [200, 10], 0, 2] => 1, # 400 MB without the workers
    [8, 64, PRELOADED, 0, 2] => 1,
    [1, 64_000, PRELOADED, 0, 2] => 1
  }.freeze

  def test_the_number_of_workers_fits_into_the_memory
    TABLE.each { |(*input), count| assert_equal count, decide(*input).workers, input.inspect }
  end

  def test_the_reason_names_the_limit
    sizes = "all workers share 100 MB, each needs about 50 MB of its own"
    { 64_000 => "8 workers, limited by the CPUs: the cgroup has 64000 MB, #{sizes}",
      512 => "2 workers, limited by the memory: the cgroup has 512 MB, #{sizes}",
      64 => "1 worker, the minimum: the cgroup has 64 MB, #{sizes}" }.each do |limit, text|
      assert_equal "max_workers auto: #{text}", decide(8, limit, PRELOADED).to_s
    end
  end

  def test_without_figures_there_is_one_worker_for_each_cpu
    unknown = "max_workers auto: 8 workers, limited by the CPUs: the system does not show the memory"
    assert_equal unknown, decide(8, 512, nil).to_s
    assert_equal unknown, decide(8, nil, PRELOADED).to_s
  end

  def test_no_worker_that_serves_is_counted_out
    assert_equal [4, 4, 9], [decide(8, 512, PRELOADED, least: 4), decide(2, 64_000, PRELOADED, least: 4),
                             decide(8, 512, nil, least: 9)].map(&:workers)
  end

  # This process acts as the supervisor and as the worker, and its parent as the master.
  def test_the_memory_of_the_processes_is_measured
    memory = AutoWorkers.measure(Process.pid)
    assert_operator memory.own, :>, MEGABYTE
    assert_operator memory.shared, :>, MEGABYTE
    assert_nil AutoWorkers.measure((2**22) + 1) # no process has this number
  end

  # A process that is not waited for is a zombie.
  def test_a_process_that_has_ended_is_told_from_one_that_proc_does_not_show
    pid = Process.spawn("true")
    eventually("the end of the process") { AutoWorkers.ended?(pid) }
    Process.wait(pid)
    assert AutoWorkers.ended?(pid)
    refute AutoWorkers.ended?(Process.pid)
    Bontebok::StatLine.stub(:read, nil) { refute AutoWorkers.ended?(Process.pid) }
  end

  # As in a container, if the server is started as root and has the option `user`.
  def test_without_the_right_to_read_more_the_resident_memory_counts
    sizes = { Process.pid => 90, Process.ppid => 30 }.transform_values { |size| size * MEGABYTE }
    Bontebok::ProcessMemory.stub(:read, nil) do
      assert_operator AutoWorkers.measure(Process.pid).shared, :>, MEGABYTE
      Bontebok::ProcessMemory.stub(:resident, sizes.method(:fetch)) do
        assert_equal [120 * MEGABYTE, 60 * MEGABYTE], AutoWorkers.measure(Process.pid).to_a
      end
    end
  end

  private

  def decide(cpus, limit, memory, surge = 0, generations = 2, least: 1)
    memory &&= AutoWorkers::Memory.new(*memory.map { |size| size * MEGABYTE })
    AutoWorkers.decide(cpus: cpus, limit: Bontebok::MemoryLimit.new(limit && (limit * MEGABYTE), "the cgroup"),
                       memory: memory, surge: surge, generations: generations, least: least)
  end
end
