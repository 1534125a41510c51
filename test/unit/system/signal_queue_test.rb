# frozen_string_literal: true

require "test_helper"
require "bontebok/system/signal_queue"

# Tests SignalQueue: it turns signals into events. In a process that the application forks, signals have their usual
# effect.
class SignalQueueTest < Support::TestCase
  SIGNALS = %w[USR1 USR2].freeze

  def setup
    @former = SIGNALS.to_h { |signal| [signal, Signal.trap(signal, "DEFAULT")] }
    @queue = Bontebok::SignalQueue.new(*SIGNALS)
  end

  def teardown
    @former.each { |signal, handler| Signal.trap(signal, handler || "DEFAULT") }
    @queue.close
  end

  def test_signals_arrive_in_order_and_wake_a_select
    Process.kill("USR1", Process.pid)
    wait_readable
    Process.kill("USR2", Process.pid)
    assert_equal(%w[USR1 USR2], eventually { (@events = @events.to_a + @queue.take).size == 2 && @events })
  end

  def test_take_does_not_block_and_empties_the_queue
    assert_equal [], @queue.take
    @queue.push(:something)
    wait_readable
    assert_equal [:something], @queue.take
    assert_nil @queue.to_io.wait_readable(0)
  end

  def test_threads_may_push
    Thread.new { @queue.push(:done) }.join
    assert_equal [:done], @queue.take
  end

  def test_the_queue_takes_more_events_than_the_pipe_holds
    70_000.times { @queue.push(:event) }
    assert_equal 70_000, @queue.take.size
  end

  def test_a_signal_has_its_usual_effect_in_a_forked_process
    reader, writer = IO.pipe
    pid = fork do
      writer.write("ready")
      sleep
    end
    assert_equal "ready", reader.readpartial(5)
    Process.kill("USR1", pid)
    assert_equal Signal.list["USR1"], Process.wait2(pid).last.termsig
    assert_equal [], @queue.take
  ensure
    [reader, writer].each(&:close)
  end

  private

  def wait_readable
    assert @queue.to_io.wait_readable(60), "no event came"
  end
end
