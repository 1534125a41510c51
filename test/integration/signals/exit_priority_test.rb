# frozen_string_literal: true

require "test_helper"

# The priority with which the processes of a server finalize their objects, after their exit handlers.
class ExitPriorityTest < Support::TestCase
  APP = <<~'RUBY'
    note = ->(what) { $stderr.puts "#{what} at #{Process.getpriority(Process::PRIO_PROCESS, 0)}" }
    at_exit { note.call("handlers") }
    KEPT = Object.new
    ObjectSpace.define_finalizer(KEPT, proc { note.call("finalizers") })
    run ->(_) { [200, {}, []] }
  RUBY

  # Requests do not wait for a worker that was replaced. A process that is killed after 2 s keeps its priority.
  def test_a_replaced_worker_ends_with_a_low_priority_and_a_stop_at_once_with_the_own
    assert_equal [low, own, own], priorities("INT")
  end

  def test_processes_that_have_little_time_keep_their_priority
    assert_equal [own] * 3, priorities("TERM", "--graceful-timeout", "2")
  end

  private

  def own = Process.getpriority(Process::PRIO_PROCESS, 0)

  def low = [own, 10].max

  # The priorities of a worker that was replaced, and of the worker and the master that the signal has ended.
  def priorities(signal, *args)
    server = start_bontebok(args: ["-w", "1", *args], rackup: APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    server.signal("HUP")
    server.wait_for_output(/^finalizers at \d+$/)
    server.stop(signal)
    lines = server.output.text.scan(/^(handlers|finalizers) at (\d+)$/)
    lines.each_slice(2).map do |handlers, finalizers|
      assert_equal [["handlers", own.to_s], "finalizers"], [handlers, finalizers.first]
      finalizers.last.to_i
    end
  end
end
