# frozen_string_literal: true

require "test_helper"
require "bontebok/start_failure"
require "bontebok/usage_error"

# The message and the exit status of a start that fails.
class StartFailureTest < Minitest::Test
  def test_a_start_that_does_not_fail_says_nothing
    assert_told(7, "") { 7 }
  end

  def test_whose_fault_it_is
    assert_told(1, "bontebok: no port\n") { raise Bontebok::StartError, "no port" }
    assert_told(2, "bontebok: no option\n") { raise Bontebok::UsageError, "no option" }
    assert_told(1, "bontebok: Permission denied\n") { raise Errno::EACCES }
  end

  def test_who_interrupts_it_is_told_nothing
    assert_told(130, "") { raise Interrupt }
  end

  def test_three_lines_at_most
    assert_told(2, "bontebok: 1\n2\n3\n") { raise Bontebok::UsageError, "1\n2\n3\n4\n" }
    assert_told(1, "bontebok: \xff\n") { raise Bontebok::StartError, "\xff" }
  end

  def test_nobody_is_there_to_be_told
    former = $stderr
    reader, $stderr = IO.pipe
    reader.close
    assert_equal(1, Bontebok::StartFailure.told { raise Bontebok::StartError, "no port" })
  ensure
    $stderr.close
    $stderr = former
  end

  private

  def assert_told(status, message, &)
    returned = nil
    _, text = capture_io { returned = Bontebok::StartFailure.told(&) }
    assert_equal [status, message.b], [returned, text.b]
  end
end
