# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/master/out_of_band_turns"

# Tests how many workers may do out-of-band work (work between two requests) at the same time. A worker needs a turn for
# this work.
class OutOfBandTurnsTest < Support::TestCase
  # A process that acts as a worker. granted: the result of the block in this process. The process ends when `stay` is
  # closed.
  Worker = Struct.new(:pid, :granted, :stay)

  def setup
    @workers = []
  end

  def teardown
    @workers.each do |worker|
      worker.stay.close
      Process.wait(worker.pid)
    end
  end

  # The present number counts, not the largest one.
  def test_at_most_half_of_the_workers_have_a_turn
    { 1 => 1, 2 => 1, 3 => 1, 4 => 2, 9 => 4 }.each do |count, most|
      turns = Bontebok::OutOfBandTurns.new(9)
      turns.workers = count
      assert_equal [*[true] * most, false], Array.new(most + 1) { worker { turns.take }.granted }, count
    end
  end

  # The application forks a process during the turn. The forked process still runs after the turn.
  def test_a_turn_is_given_back_even_if_a_forked_process_lives_on
    turns = Bontebok::OutOfBandTurns.new(2)
    first = worker do |stay|
      turns.take.tap do
        Process.fork { stay.read }
        turns.give_back
      end
    end
    assert_equal [true, true], [first.granted, worker { turns.take }.granted]
  end

  def test_a_worker_that_dies_loses_its_turn
    turns = Bontebok::OutOfBandTurns.new(2)
    holder = worker { turns.take }
    refute worker { turns.take }.granted
    Process.kill("KILL", holder.pid)
    eventually { Support::ProcessTable.entry(holder.pid).nil? }
    assert worker { turns.take }.granted
  end

  def test_a_worker_that_cannot_open_the_files_needs_no_turn
    turns = Bontebok::OutOfBandTurns.new(2)
    assert_equal([true] * 2, Array.new(2) { worker { limit_descriptors { turns.take } }.granted })
  end

  private

  def worker
    result, teller = IO.pipe
    waiter, stay = IO.pipe
    pid = Process.fork do
      [result, stay, *@workers.map(&:stay)].each(&:close)
      teller.puts(yield(waiter) ? "yes" : "no")
      waiter.read
    ensure
      exit!
    end
    [teller, waiter].each(&:close)
    Worker.new(pid, result.gets == "yes\n", stay).tap { |worker| @workers << worker }
  end

  def limit_descriptors
    Process.setrlimit(:NOFILE, 0)
    yield
  end
end
