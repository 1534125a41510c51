# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# The commands for a server with one process (-w 0).
class ProcessControlTest < Support::TestCase
  include ControlCase

  def test_a_deploy_waits_until_the_new_code_serves
    server = start
    assert_equal 200, server.get.status
    release(2)
    assert_command 0, "the new code serves\n", "deploy", "--wait"
    totals = TotalsReader.new(server.pid)
    assert_equal [1, 1], totals.look.values_at(:responses_2xx, "deploy succeeded")
    assert_serves 2, server
    release(3)
    assert_command 0, "the process is executed again when its requests are finished\n", "deploy"
    server.wait_for_output(/(.* ready in \d+ ms$){3}/m)
    assert_serves 3, server
    assert_equal server.pid, status["pid"]
    assert_equal ["generation 1 serves (start)", *["generation 1 serves (deploy)"] * 2], totals.notes(:deploy)
    assert_equal 1, totals.memories
    assert_equal 0, server.stop.exitstatus
    refute_path_exists control
  end

  # The process becomes a supervisor.
  def test_a_deploy_with_workers_in_the_new_configuration
    path = temp_file("shared.rb", "max_workers 0\n")
    release(1)
    server = start_current("-c", path, "--control", control, "--ready-path", "/ready")
    assert_command 0, /choose other servers/, "drain"
    File.write(path, "max_workers 1\n")
    assert_command 0, "the new code serves\n", "deploy", "--wait"
    assert_equal 1, TotalsReader.new(server.pid).look["deploy succeeded"]
    assert_equal [server.pid, 1, "draining"], status.values_at("pid", "workers", "state")
    assert_equal 503, server.get("/ready").status
    assert_equal 0, server.stop.exitstatus
  end

  def test_a_deploy_that_fails
    server = start
    release(2, "config.ru" => "raise 'no good'")
    assert_command 1, "bontebok: the server has ended\n", "deploy", "--wait"
    assert_equal 1, server.wait.exitstatus
  end

  def test_a_stop_ends_a_deploy
    server = start_at_gate
    request_at_gate(server) do
      waiting = start_command("deploy", "--wait")
      server.wait_for_output(/the process is executed again/)
      assert_equal "deploying", status["state"]
      assert_command 3, /busy/, "deploy"
      assert_command 0, "the server stops\n", "stop"
      assert_equal 1, waiting.wait.exitstatus
      assert_match(/the server stops/, waiting.output.text)
      refute_path_exists "#{temp_dir}/bontebok.sock"
    end
    assert_equal 0, server.wait.exitstatus
  end

  def test_a_stop_at_once_ends_a_deploy
    server = start_at_gate
    at_gate(server) do
      assert_command 0, /is executed again/, "deploy"
      server.signal("INT")
      assert_equal 0, server.wait.exitstatus
    end
    refute_path_exists "#{temp_dir}/bontebok.sock"
  end

  def test_a_deploy_that_waits_is_told_of_a_stop_at_once
    server = start_at_gate
    at_gate(server) do
      waiting = start_command("deploy", "--wait")
      server.wait_for_output(/the process is executed again/)
      server.signal("INT")
      assert_equal [0, 1], [server.wait.exitstatus, waiting.wait.exitstatus]
      assert_equal "bontebok: the server stops\n", waiting.output.text
    end
  end

  def test_a_stop_while_the_new_code_loads
    server = start
    make_gate
    # A signal can end the open of a FIFO in the main thread: Errno::EINTR.
    release(2, "config.ru" => "$stderr.puts 'the code loads'\nThread.new { File.read('#{gate}') }.join")
    server.signal("USR2")
    server.wait_for_output(/the code loads/)
    server.signal("TERM")
    assert_equal 0, server.wait.exitstatus
    refute_path_exists "#{temp_dir}/bontebok.sock"
  end

  # HUP comes before the new program has handlers.
  def test_hup_does_not_end_the_program_that_is_executed
    early = temp_file("early.rb", "Process.kill('HUP', Process.pid) if ENV.key?('BONTEBOK_LISTENERS')\n")
    server = start_current("-w", "0", env: { "RUBYOPT" => "-r#{early}" })
    release(2)
    server.signal("USR2")
    server.wait_for_output(/(.* ready in \d+ ms$){2}/m)
    assert_serves 2, server
    server.signal("HUP")
    server.wait_for_output(/log files are opened again/)
  end

  def test_status_logs_and_stop
    server = start("--log", "#{temp_dir}/log")
    assert_equal ["serving", 0, server.pid, 1], [*status.values_at("state", "workers", "pid"), status["processes"].size]
    assert_command 0, /: serving generation 1.*, one process of 3 threads, .*^bontebok .*, pid #{server.pid};/m,
                   "status"
    File.rename("#{temp_dir}/log", "#{temp_dir}/old")
    assert_command 0, "the log files are opened again\n", "reopen"
    assert_path_exists "#{temp_dir}/log"
    assert_command 0, "the server stops\n", "stop", "--wait"
    assert_equal 0, server.wait.exitstatus
  end

  def test_drain_and_resume
    server = start("--ready-path", "/ready", "--drain-delay", "10m")
    assert_command 0, /other servers/, "drain"
    assert_equal 503, server.get("/ready").status
    assert_command 0, /new clients/, "resume"
    assert_equal 200, server.get("/ready").status
    assert_command 0, "the server stops\n", "stop"
    server.wait_for_output(/draining/)
    assert_command 1, "bontebok: the server stops\n", "resume"
    assert_equal 503, server.get("/ready").status
    assert_command 0, "the server stops\n", "stop", "--now"
    assert_equal 0, server.wait.exitstatus
  end

  def test_commands_that_need_workers
    start
    [%w[rollback], %w[workers 2], %w[restart-workers], %w[deploy --supervisor], %w[deploy --canary 1]].each do |command|
      assert_command 1, /\Abontebok: .* needs workers: this server has one process \(-w 0\)\n\z/, *command
    end
  end

  private

  def start_at_gate
    release(1, "config.ru" => GATED_APP)
    make_gate
    File.symlink(gate, "#{temp_dir}/releases/1/gate")
    start
  end

  def start(*args)
    return super("-w", "0", *args) unless args.include?("--log")

    start_process(*ruby_client, "-w", "0", "--control", control, "-l", "unix:#{temp_dir}/a.sock", *args,
                  chdir: "#{temp_dir}/current").tap { wait_for_log("log", / ready in \d+ ms$/) }
  end
end
