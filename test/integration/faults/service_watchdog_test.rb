# frozen_string_literal: true

require "test_helper"
require_relative "../support/service_case"

# The signs of life (WATCHDOG=1) for a service manager.
class ServiceWatchdogTest < Support::TestCase
  include ServiceCase

  # The frozen workers have no request, so nothing else ends the freeze within the time of the test.
  def test_the_watchdog_gets_signs_of_life_while_a_master_and_a_worker_run
    long_form
    server = start("-w", "2", env: { "WATCHDOG_USEC" => "100000" })
    wait_for_states("READY")
    one, two = workers(server)
    stop_process(one)
    assert_signs_of_life
    stop_process(two)
    refute_signs_of_life
    Process.kill("CONT", one)
    assert_signs_of_life
    stop_process(master(server).pid)
    refute_signs_of_life
  ensure
    [one, two, (master(server)&.pid if server)].compact.each { |pid| Process.kill("CONT", pid) }
  end

  # With a low RLIMIT_FSIZE, the supervisor cannot see the workers of an executed master.
  def test_the_watchdog_gets_signs_of_life_while_a_master_has_workers_that_nobody_else_sees
    long_form
    server = start("-w", "1", env: { "WATCHDOG_USEC" => "100000" }, rlimit_fsize: 40_000)
    wait_for_states("READY")
    server.signal("USR2")
    wait_for_states("READY", "RELOADING", "READY")
    server.wait_for_output(/ the generations share only the listeners: (?m:.*) master \(pid \d+\) has left/)
    assert_signs_of_life
  end

  private

  def signs_of_life
    @manager.messages.count { |fields| fields.key?("WATCHDOG") }
  end

  def assert_signs_of_life
    before = signs_of_life
    assert eventually("signs of life") { signs_of_life > before + 1 }
  end

  # No sign comes for ten times the interval.
  def refute_signs_of_life
    since = before = nil
    quiet = eventually("the end of the signs of life") do
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      since = now if before != (before = signs_of_life)
      now - since > 0.5
    end
    assert quiet
  end
end
