# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# All processes of a server are frozen with SIGSTOP for longer than worker_boot_timeout and graceful_timeout. No process
# is killed after the pause.
class ProcessPausedTest < Support::TestCase
  include Support::OnceMore
  include BusyWorker

  LIMIT = 2
  LIMITS = ["--worker-boot-timeout", "#{LIMIT}s", "--graceful-timeout", "#{LIMIT}s"].freeze
  LOADED_AT_GATE = "$stderr.puts 'at the gate'\nFile.read('gate')\nrun ->(_env) { [200, {}, ['loaded']] }\n"
  EXIT_AT_GATE = <<~RUBY
    at_exit { $stderr.puts("at the gate") || (File.read("gate") && $stderr.puts("behind the gate")) }
    run ->(_env) { [200, {}, []] }
  RUBY

  def setup
    super
    make_gate
  end

  def test_a_graceful_stop_survives_a_pause
    servers = %w[1 0].map { |workers| start_gated(workers) }
    servers.each { |server| server.signal("TERM") && server.wait_for_output(/ stopping/) }
    pause(*servers)
    assert_served
    servers.each { |server| assert_predicate server.wait, :success? }
  end

  if Support::Length::LONG
    def test_a_start_survives_a_pause
      args = ["-w", "1", "--preload", "false", *LIMITS]
      server = start_bontebok(args: args, rackup: LOADED_AT_GATE, ready: false)
      server.wait_for_output(/at the gate/)
      pause(server)
      open_gate
      server.wait_until_ready
      refute_match(/killed/, server.output.text)
    end

    # These processes have no master, so each process checks the time limits itself.
    def test_processes_without_a_parent_survive_a_pause
      orphan = start_gated("1")
      [orphan.pid, master(orphan).pid].each { |pid| Process.kill("KILL", pid) }
      orphan.wait_for_output(/the master is gone/)
      exiting = start("-w", "0", *LIMITS, application: EXIT_AT_GATE, listen: :tcp)
      exiting.signal("TERM")
      exiting.wait_for_output(/at the gate/)
      pause(orphan, exiting)
      assert_served(2)
      exiting.wait_for_output(/behind the gate/)
      orphan.wait_for_group
    end
  end

  private

  # Starts a server, and sends a request that waits until the test opens the gate (a named pipe).
  def start_gated(workers)
    start("-w", workers, *LIMITS, application: GATED_APP, listen: :tcp).tap do |server|
      connect(server).request("GET", "/gate")
      server.wait_for_output(/at the gate/)
    end
  end

  # Freezes all processes for LIMIT + 1 seconds. Then continues each process before its children.
  def pause(*servers)
    pids = servers.flat_map { |server| server.group.map(&:pid) }
    pids.each { |pid| stop_process(pid) }
    sleep(LIMIT + 1)
    pids.each { |pid| Process.kill("CONT", pid) }
  end

  # Waits 0.3 s for each client. If a process wrongly exits or kills another process, it does so in this time.
  def assert_served(waiting = @clients.size)
    @clients.each { |client| assert client.quiet?(0.3) }
    open_gate_for(waiting)
    @clients.each { |client| assert_equal 200, client.read_response.status }
  end
end
