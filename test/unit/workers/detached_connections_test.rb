# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require "bontebok/config/hooks"
require "bontebok/log/log"
require "bontebok/workers/detached_connections"

class DetachedConnectionsTest < Support::TestCase
  Connection = Struct.new(:closed?)
  Core = Struct.new(:shown, :waits) do
    def show_detached(*values) = (self.shown, self.waits = values)
  end

  def setup
    super
    @core = Core.new
    @hooks = Bontebok::Hooks.new
    @log = Bontebok::Log.new(File.open(File::NULL, "w"))
  end

  def test_open_connections_are_counted
    kept = [false, true, false].map { |closed| Connection.new(closed) }
    kept.each { |connection| connections.add(connection) }

    assert_equal 3, @core.shown
    connections.show

    assert_equal 2, @core.shown
    assert_equal 3, kept.size # the connections are alive until here
  end

  # The application may have given the socket a method of its own.
  def test_a_connection_whose_closed_raises_counts_as_closed
    kept = [Connection.new(false), Object.new.tap { |odd| odd.define_singleton_method(:closed?) { raise "closed?" } }]
    kept.each { |connection| connections.add(connection) }
    connections.show

    assert_equal [1, 2], [@core.shown, kept.size]
  end

  # The hook before_worker_drain may end after the first call of #wait?.
  def test_the_time_begins_with_the_first_wait
    now = 0
    connections.add(kept = Connection.new(false))
    Bontebok::Clock.stub(:now, -> { now }) do
      assert connections.wait?
      now = 6
      assert connections.wait?
      refute_predicate connections, :over?
      now = 10
      assert_predicate connections, :over?
    end
    refute_predicate kept, :closed? # the connection is alive until here
  end

  def test_a_wait_for_the_hook_is_shown_also_after_the_hook
    go_on = Queue.new
    ended = Queue.new
    @hooks.add(:before_worker_drain, ->(_) { go_on.pop })
    connections.add(kept = Connection.new(false))
    connections.drain { ended.push(:ended) }

    refute @core.waits
    assert_predicate connections, :wait?
    assert_equal [1, true], @core.to_a
    kept[:closed?] = true

    assert_predicate connections, :wait?
    assert_equal [0, true], @core.to_a
    go_on.push(:go)
    ended.pop

    refute_predicate connections, :wait?
    assert_equal [0, true], @core.to_a
  end

  def test_without_a_thread_the_hook_does_not_run_and_nobody_waits_for_it
    @hooks.add(:before_worker_drain, ->(_) { raise "the hook runs" })
    @log = Bontebok::Log.new(File.open(file = "#{temp_dir}/log", "w"))
    Thread.stub(:new, -> { raise ThreadError, "no room" }) { connections.drain { flunk } }
    connections.drain { flunk } # A second order to end does not run it, either.
    refute_predicate connections, :wait?
    assert_match(/\A\S+ error .* the hook before_worker_drain cannot run: no room \(ThreadError\)$/, File.read(file))
    refute_match(/the hook runs/, File.read(file))
  end

  # Ruby 3.1 crashes if many keys of a WeakMap have the same value. bench/soak shows the crash.
  def test_no_two_connections_share_a_value
    kept = Array.new(3) { Connection.new(false) }
    kept.each { |connection| connections.add(connection) }
    map = connections.instance_variable_get(:@connections)

    kept.each { |connection| assert_same connection, map[connection] }
  end

  private

  def connections
    @connections ||= Bontebok::DetachedConnections.new(10, @hooks, nil, core: @core, log: @log)
  end
end
