# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/sockets/worker_links"

# Tests how WorkerLinks passes the shared queue and the scoreboard to executed processes, and keeps them from others.
class WorkerLinksTest < Support::TestCase
  # The program of an executed process. Its arguments are the numbers of the descriptors.
  ATTACHED = <<~RUBY
    require "bontebok/bontebok"
    require "bontebok/sockets/worker_links"
    inherited = ARGV.map { |number| IO.for_fd(Integer(number)) }
    links = Bontebok::WorkerLinks.attach(inherited)
    p links.pids, links.descriptors.map(&:close_on_exec?)
    links.forget(links.pids.first)
    links.descriptors[1].send("a message", 0)
  RUBY

  def setup
    @links = Bontebok::WorkerLinks.open
  end

  def teardown
    @links.close
    super
  end

  def test_an_executed_process_sees_and_changes_the_slots
    lane = show_a_lane
    numbers = @links.descriptors.map(&:fileno)
    output = IO.popen([RbConfig.ruby, "-I#{ROOT}/lib", "-e", ATTACHED, *numbers.map(&:to_s), numbers.to_h { [_1, _1] }],
                      &:read)
    assert_equal "[#{Process.pid}]\n[true, true, true]\n", output
    assert_empty @links.pids
    received = Array.new(2) { @links.descriptors.last.recv(100) }
    assert_equal "a message", received.last, "the first message wakes a lane"
    lane.itself
  end

  def test_a_command_does_not_inherit_the_descriptors
    assert_equal([true, true, true], @links.descriptors.map(&:close_on_exec?))
  end

  def test_a_scoreboard_of_another_version_is_refused
    File.open("/proc/self/fd/#{@links.descriptors.first.fileno}", "r+") { |file| file.pwrite("another", 0) }
    copies = @links.descriptors.map(&:dup)
    assert_equal([2, 2, 2], @links.descriptors.map { |io| copies_of(io) })
    error = assert_raises(ArgumentError) { Bontebok::WorkerLinks.attach(copies) }
    assert_match(/the shared memory is not a scoreboard of this version/, error.message)
    assert_equal([1, 1, 1], @links.descriptors.map { |io| copies_of(io) }, "the copies are closed")
  end

  def test_a_process_of_the_application_keeps_only_the_memory
    Process.wait(fork do
      @links.disown
      exit!(@links.descriptors.all?(&:closed?) && @links.pids.empty?)
    end)
    assert_predicate Process.last_status, :success?
    assert(@links.descriptors.none?(&:closed?))
  end

  # The garbage collections are in the block of the worker's first lane.
  def test_the_workers_lanes_count_in_the_totals
    worker = Bontebok::Core::Worker.new
    lane = show_a_lane(worker, number: 3, generation: 2)
    worker.count_gc(5, 70)
    metrics = @links.totals.memories.first
    assert_equal [Process.pid, 3, 2, 70], metrics.lanes.last.values_at(:pid, :worker, :generation, :gc_time)
    assert_equal [5, 70], metrics.totals[:counters].values_at(:gc_runs, :gc_time)
    assert_equal ["worker 3 g2", nil], [@links.totals.worker(Process.pid), @links.totals.worker(1)]
    lane.itself
  end

  def test_what_a_process_outside_needs
    second = Bontebok::WorkerLinks.join(@links.queue.map(&:dup))
    observed = second.observed
    files = [second.descriptors.first, *second.totals.descriptors, @links.descriptors.last, @links.queue.first]
    assert_equal inodes(files),
                 inodes([observed.scoreboard, *observed.totals, observed.queue, observed.counter])
    observed = @links.observed
    assert_equal observed.scoreboard, observed.counter
    assert_equal 5, inodes([*@links.descriptors, *@links.totals.descriptors, *second.totals.descriptors]).uniq.size
  ensure
    second&.close
  end

  def test_without_the_queue_the_memory_can_still_be_watched
    @links.close_queue
    observed = @links.observed
    assert_nil observed.queue
    assert_nil @links.waiting_requests
    assert_equal([false] * 3, [observed.scoreboard, observed.counter, *observed.totals].map(&:closed?))
  end

  # Each server has its own scoreboard. The first one counts the requests in the queue.
  def test_servers_share_a_queue
    second = Bontebok::WorkerLinks.join(@links.queue.map(&:dup))
    third = Bontebok::WorkerLinks.join(second.queue.map(&:dup))
    lane = show_a_lane
    assert_equal [[Process.pid], [], []], [@links, second, third].map(&:pids)
    assert_equal(1, [@links, second, third].map { |links| File.stat(path_of(links.queue.first)).ino }.uniq.size)
    third.descriptors[1].send("a message", 0)
    assert_equal "a message", @links.queue.last.recv(100)
    executed = Bontebok::WorkerLinks.attach(third.descriptors.map(&:dup))
    assert_equal third.descriptors.size, executed.descriptors.size
    lane.itself
  ensure
    [second, third, executed].compact.each(&:close)
  end

  def test_workers_that_only_wait_are_found
    shown = [[1, true], [1, true], [2, false]].map { |pid, waits| { pid: pid, waits: waits } }
    @links.instance_variable_get(:@scoreboard).stub(:lanes, shown) { assert_equal [1], @links.waiting }
  end

  # RLIMIT_FSIZE stands for a system that makes no files in memory.
  def test_without_a_file_the_forked_processes_share_the_scoreboard
    Process.wait(fork do
      Process.setrlimit(:FSIZE, 1)
      links = Bontebok::WorkerLinks.open
      exit!(links.descriptors.empty? && links.pids.empty?)
    end)
    assert_predicate Process.last_status, :success?
    assert_raises(ArgumentError) { Bontebok::WorkerLinks.attach([]) }
  end

  private

  def inodes(files) = files.map { |io| io.stat.ino }

  def path_of(io) = "/proc/self/fd/#{io.fileno}"

  # How many descriptors of this process refer to the file. The names of all scoreboards' files are equal.
  def copies_of(io)
    Dir.glob("/proc/self/fd/*").count { |path| File.identical?(path, path_of(io)) }
  end

  # Returns a lane that has a slot. The lane has it until the GC frees the lane.
  def show_a_lane(worker = Bontebok::Core::Worker.new, **numbers)
    @links.connect(worker, **numbers)
    Bontebok::Core::Lane.new(worker, ->(_env) {}, report: ->(*) {})
  end
end
