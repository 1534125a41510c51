# frozen_string_literal: true

require "test_helper"

class ShortEndTest < Support::TestCase
  def setup
    @reader, @writer = IO.pipe
    @writer.sync = true
  end

  def teardown = [@reader, @writer].each(&:close)

  def test_a_child_runs_its_exit_handlers_and_no_finalizers
    { 3 => -> { exit(3) }, 0 => -> {} }.each do |expected, ending|
      lines, status = ended(&ending)
      assert_equal [["handler"], expected], [lines, status.exitstatus]
    end
  end

  def test_a_child_of_a_child_ends_in_the_same_way
    lines, = ended { Process.wait(fork { exit(4) }) && exit(4) }
    assert_equal %w[handler handler], lines
  end

  def test_output_is_written
    lines, = ended do
      $stdout.reopen(@writer)
      $stdout.sync = false
      $stdout.print "output\n"
    end
    assert_equal %w[handler output], lines
  end

  def test_a_child_that_gets_a_signal_ends_by_it
    lines, status = ended { Process.kill("TERM", Process.pid) && sleep }
    assert_equal [["handler"], Signal.list["TERM"]], [lines, status.termsig]
  end

  def test_an_exception_is_reported
    lines, status = ended do
      $stderr.reopen(@writer)
      raise "a failure"
    end
    assert_equal ["handler", 1], [lines.first, status.exitstatus]
    assert_match(/a failure/, lines.join)
  end

  private

  # Runs the block in a child. Returns the lines that the child wrote, and its Process::Status.
  def ended
    writer = @writer
    _, status = Process.wait2(fork do
      ObjectSpace.define_finalizer(@kept = Object.new, proc { writer.puts "finalizer" })
      at_exit { writer.puts "handler" }
      yield
    end)
    [@reader.read_nonblock(10_000).lines(chomp: true), status]
  end
end
