# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/out_of_band_turns"

# Who may be out of band at the same moment.
class OutOfBandTurnsTest < Support::TestCase
  # A process that stands for a worker. answer: whether the block was true in it. It stays until `stay` is closed.
  Worker = Struct.new(:pid, :answer, :stay)

  def setup
    @workers = []
  end

  def teardown
    @workers.each do |worker|
      worker.stay.close
      Process.wait(worker.pid)
    end
  end

  def test_half_of_them_at_most
    { 1 => 1, 2 => 1, 3 => 1, 4 => 2, 9 => 4 }.each do |count, most|
      turns = Bontebok::OutOfBandTurns.new(count)
      assert_equal [*[true] * most, false], Array.new(most + 1) { worker { turns.take }.answer }, count
    end
  end

  # Also where the application has forked a process meanwhile, which lives on.
  def test_it_is_given_back
    turns = Bontebok::OutOfBandTurns.new(2)
    first = worker do |stay|
      turns.take.tap do
        Process.fork { stay.read }
        turns.give_back
      end
    end
    assert_equal [true, true], [first.answer, worker { turns.take }.answer]
  end

  def test_whoever_dies_has_none
    turns = Bontebok::OutOfBandTurns.new(2)
    holder = worker { turns.take }
    refute worker { turns.take }.answer
    Process.kill("KILL", holder.pid)
    eventually { worker { turns.take }.answer }
  end

  def test_without_the_files_each_goes_by_itself
    turns = Bontebok::OutOfBandTurns.new(2)
    assert_equal([true] * 2, Array.new(2) { worker { limit_descriptors { turns.take } }.answer })
  end

  private

  def worker
    answer, teller = IO.pipe
    waiter, stay = IO.pipe
    pid = Process.fork do
      [answer, stay, *@workers.map(&:stay)].each(&:close)
      teller.puts(yield(waiter) ? "yes" : "no")
      waiter.read
    ensure
      exit!
    end
    [teller, waiter].each(&:close)
    Worker.new(pid, answer.gets == "yes\n", stay).tap { |worker| @workers << worker }
  end

  def limit_descriptors
    Process.setrlimit(:NOFILE, 0)
    yield
  end
end
