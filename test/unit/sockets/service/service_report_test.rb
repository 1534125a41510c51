# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/sockets/service/service_report"

# Tests what the service manager is told, and when. The clock, the service manager and the store are stand-ins.
class ServiceReportTest < Support::TestCase
  # Collects the messages. A message is refused while `full` is true.
  Manager = Struct.new(:watchdog, :full, :told, :barrier) do
    def present?
      true
    end

    def tell(**fields) # rubocop:disable Naming/PredicateMethod
      told << fields unless full
      !full
    end
  end
  Store = Struct.new(:kept) do
    def keep(listeners)
      self.kept = listeners
    end
  end
  Config = Struct.new(:boot_seconds)
  Listeners = Struct.new(:listening?)

  def setup
    @manager = Manager.new(nil, false, [])
    @store = Store.new
    @config = Config.new(60)
    @listeners = Listeners.new(false)
    @now = 1000.0
    @alive = true
  end

  def run
    Bontebok::Clock.stub(:now, -> { @now }) { super }
  end

  def test_each_state_and_each_status_is_told_once
    assert_equal [{ STATUS: "loads" }, extension], tick(:starting, "loads")
    assert_equal [{ READY: 1, STATUS: "2 workers" }], tick(:serving, "2 workers")
    assert_empty tick(:serving, "2 workers")
    assert_equal [{ STATUS: "3 workers" }], tick(:serving, "3 workers")
    reloading, extended = tick(:reloading, "3 workers")
    assert_equal %i[RELOADING MONOTONIC_USEC], reloading.keys
    assert_in_delta Process.clock_gettime(Process::CLOCK_MONOTONIC), reloading[:MONOTONIC_USEC] / 1e6, 60
    assert_equal extension, extended
    assert_equal [{ READY: 1 }], tick(:serving, "3 workers")
    assert_equal [{ STOPPING: 1, STATUS: "stops" }, extension], tick(:stopping, "stops")
  end

  def test_a_message_that_was_refused_is_repeated
    @manager.full = true
    assert_empty tick(:serving, "2 workers")
    assert_in_delta @now + 0.1, report.deadline
    @manager.full = false
    assert_equal [{ READY: 1, STATUS: "2 workers" }], tick(:serving, "2 workers")
    assert_nil report.deadline
  end

  # systemd has sent a signal (Type=notify-reload), and waits for RELOADING with a later time, then for READY.
  def test_each_reload_is_told_also_if_one_is_in_progress_or_nothing_changes
    tick(:serving)
    report.reload
    assert_equal [%i[RELOADING MONOTONIC_USEC], %i[READY]], tick(:serving).map(&:keys)
    assert_empty tick(:serving)
    2.times do
      report.reload
      assert_equal %i[RELOADING MONOTONIC_USEC], tick(:reloading).first.keys
    end
    assert_equal [{ READY: 1 }], tick(:serving)
  end

  def test_a_reload_that_was_refused_is_repeated
    tick(:serving)
    @manager.full = true
    report.reload
    assert_empty tick(:serving)
    assert_in_delta @now + 0.1, report.deadline
    @manager.full = false
    assert_equal [%i[RELOADING MONOTONIC_USEC], %i[READY]], tick(:serving).map(&:keys)
  end

  def test_no_reload_is_told_during_a_start_or_a_stop
    tick(:starting)
    report.reload
    assert_empty tick(:starting)
    assert_equal [{ READY: 1 }], tick(:serving)
    tick(:stopping)
    report.reload
    assert_empty tick(:stopping)
  end

  def test_the_limit_of_the_service_manager_is_prolonged_until_worker_boot_timeout
    tick(:starting)
    assert_in_delta 5, report.step
    @now += 4
    assert_empty tick(:starting)
    @now += 1
    assert_equal [extension], tick(:starting)
    @now += 60
    assert_empty tick(:starting)
    @config.boot_seconds = 0
    @now += 10
    assert_equal [extension], tick(:starting)
  end

  # deploy_surge and a canary can take several times worker_boot_timeout.
  def test_a_reload_and_a_stop_are_prolonged_without_a_limit
    %i[reloading stopping].each do |state|
      tick(:serving)
      tick(state)
      @now += 600
      assert_equal [extension], tick(state)
    end
  end

  def test_the_watchdog_gets_a_sign_of_life_while_the_server_is_alive
    @manager.watchdog = 10
    assert_includes tick(:serving), { WATCHDOG: 1 }
    assert_in_delta 5, report.step
    assert_empty tick(:serving)
    @now += 5
    assert_equal [{ WATCHDOG: 1 }], tick(:serving)
    @alive = false
    @now += 5
    assert_empty tick(:serving)
    @now += 5
    assert_includes tick(:stopping), { WATCHDOG: 1 }
  end

  def test_the_store_gets_the_listeners_while_they_listen
    tick(:starting)
    assert_nil @store.kept
    @listeners = Listeners.new(true)
    tick(:starting)
    assert_same @listeners, @store.kept
    tick(:stopping)
    assert_empty @store.kept
  end

  # A server that dies directly after READY must not lose its listeners.
  def test_the_listeners_are_stored_before_ready_is_told
    @listeners = Listeners.new(true)
    @store.stub(:keep, ->(_) { @manager.told << :stored }) do
      assert_equal [:stored, { READY: 1, STATUS: "the status" }], tick(:serving)
    end
  end

  def test_the_server_waits_until_the_service_manager_has_closed_the_listeners
    @listeners = Listeners.new(true)
    { -> { @writer.close } => 0.05, -> { @now += 1 } => 0 }.each do |event, grace|
      @report = nil
      @manager.barrier, @writer = IO.pipe
      assert_predicate report, :released?
      tick(:stopping)
      2.times { refute_predicate report, :released? }
      assert_in_delta 0.01, report.step
      event.call
      # IO#wait_readable(0) finds nothing while an interrupt of Ruby is pending. A server asks again, too.
      assert_equal grace.zero?, Array.new(3) { report.released? }.last
      @now += grace
      assert_predicate report, :released?
      tick(:stopping)
      assert_predicate report, :released?
      [@manager.barrier, @writer].each(&:close)
    end
  end

  private

  def report
    @report ||= Bontebok::ServiceReport.new(@manager, @store)
  end

  # Returns the messages.
  def tick(state, status = "the status")
    report.connect([@config, @listeners], alive: -> { @alive }) { [state, status] }
    report.tick
    @manager.told.dup.tap { @manager.told.clear }
  end

  def extension
    { EXTEND_TIMEOUT_USEC: 15_000_000 }
  end
end
