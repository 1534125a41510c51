# frozen_string_literal: true

require "test_helper"

# Tests the last check of bin/test. It finds the processes that a run has left behind, but not the run itself.
class LeftoversTest < Support::TestCase
  CHECK = "#{ROOT}/test/support/leftovers.rb".freeze

  def test_a_process_that_was_left_is_found
    run = stand_in_for_bin_test(<<~SHELL)
      (exec -a bontebok-left sleep 60 >&- 2>&-) & echo $!
      until grep -q bontebok-left /proc/$!/cmdline; do :; done
    SHELL
    left = run.output.lines(:stdout).first
    Process.kill("KILL", left.to_i)
    assert_equal 1, run.status.exitstatus
    assert_includes run.output.text(:stderr), "left behind: #{left} bontebok-left 60"
  end

  def test_a_run_that_left_nothing_passes
    run = stand_in_for_bin_test("(exec -a bontebok-left sleep 0)")
    assert_predicate run.status, :success?, run.output.text
  end

  private

  # The run has its own session, because processes of other tests run in the session of this process.
  def stand_in_for_bin_test(line)
    script = temp_file("bontebok-run", "#{line}\nruby --disable=gems '#{CHECK}' $$\n")
    run = Support::ChildProcess.new("setsid", "--wait", "bash", script)
    run.wait
    run
  ensure
    run&.kill
    run&.output&.wait_for_end
  end
end
