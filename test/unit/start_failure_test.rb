# frozen_string_literal: true

require "test_helper"
require "timeout"
require "bontebok/start_failure"
require "bontebok/usage_error"

# Tests the message and the exit status of a start that fails.
class StartFailureTest < Minitest::Test
  def test_a_start_that_does_not_fail_prints_nothing
    assert_told(7, "") { 7 }
  end

  def test_wrong_usage_exits_with_two_and_other_failures_exit_with_one
    assert_told(1, "bontebok: no port\n") { raise Bontebok::StartError, "no port" }
    assert_told(2, "bontebok: no option\n") { raise Bontebok::UsageError, "no option" }
    assert_told(1, "bontebok: Permission denied\n") { raise Errno::EACCES }
  end

  def test_each_fault_has_its_own_message
    assert_told(2, "bontebok: one\nbontebok: two\n") { raise Bontebok::UsageError.new("one", "two") }
  end

  def test_an_interrupted_start_prints_nothing
    assert_told(130, "") { raise Interrupt }
  end

  def test_at_most_three_lines_are_printed
    assert_told(2, "bontebok: 1\n2\n3\n") { raise Bontebok::UsageError, "1\n2\n3\n4\n" }
    assert_told(1, "bontebok: \xff\n") { raise Bontebok::StartError, "\xff" }
  end

  def test_a_standard_error_without_a_reader_is_no_error
    reader, writer = IO.pipe
    reader.close
    with_stderr(writer) { assert_equal(1, Bontebok::StartFailure.told { raise Bontebok::StartError, "no port" }) }
  ensure
    writer.close
  end

  # For example the pipe of a program that has started the server and reads nothing.
  def test_a_standard_error_that_nobody_reads_does_not_hold_the_process
    reader, writer = IO.pipe
    nil until writer.write_nonblock("." * 4096, exception: false) == :wait_writable
    faults = ["no port"] * 12
    with_stderr(writer) do
      Timeout.timeout(20) { assert_equal(1, Bontebok::StartFailure.told { raise Bontebok::StartError.new(*faults) }) }
    end
  ensure
    [reader, writer].each(&:close)
  end

  private

  def with_stderr(stream)
    former = $stderr
    $stderr = stream
    yield
  ensure
    $stderr = former
  end

  def assert_told(status, message, &block)
    returned = nil
    _, text = capture_io { returned = Bontebok::StartFailure.told(&block) }
    assert_equal [status, message.b], [returned, text.b]
  end
end
