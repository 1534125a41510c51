# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# The commands for a running server: `bontebok deploy`, `bontebok status` and so on (docs/DEPLOYS.md).
class ControlTest < Support::TestCase
  include ControlCase

  def test_a_deploy_waits_until_the_new_generation_serves
    server = start
    former = workers(server)
    release(2)
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    assert_serves 2, server
    assert_empty former & wait_for_workers(server, 2, without: former)
    release(3)
    assert_command 0, "a new master is executed\n", "deploy"
    server.wait_for_output(/w\d g3 ready/)
  end

  def test_a_failed_deploy_tells_why
    server = start
    { { "config.ru" => "def late = raise('bad code')\nlate" } => /bad code \(RuntimeError\)\n.*in `?'?(Object#)?late/,
      { "config/bontebok.rb" => "raise 'bad file'" } => /bad file \(RuntimeError\)/,
      { "config/bontebok.rb" => "preload false", "config.ru" => "raise 'late code'" } => /late code \(RuntimeError\)/,
      { "config/bontebok.rb" => "listen '127.0.0.1:1'\nuser 'no-such-user'" } => /there is no user no-such-user/ }
      .each_with_index do |(files, message), index|
        release(index + 2, files)
        command = run_command("deploy", "--wait")
        assert_match message, command.output.text
        end_of_master = index == 2 ? "did not get its workers" : "has (ended: exit status \\d|failed before it was)"
        assert_match(/^bontebok: the new master #{end_of_master}( ready)?$/, command.output.text)
        assert_equal 1, command.status.exitstatus
      end
    assert_serves 1, server
  end

  # Neither bytes that are no UTF-8 nor a text that is cut inside of a character must disturb the server.
  def test_an_error_with_any_bytes_is_told
    server = start
    release(2, "config.ru" => "raise \"\\xff caf\u00e9 \#{'\u00e9' * 5000}\"")
    command = run_command("deploy", "--wait")
    assert_equal 1, command.status.exitstatus
    assert_match(/caf\u00e9/, command.output.text.force_encoding("UTF-8").scrub)
    assert_serves 1, server
  end

  def test_the_result_is_told_although_the_control_socket_moves
    release(1, "config/bontebok.rb" => "control '#{control}'")
    server = start_current("-w", "1")
    release(2, "config/bontebok.rb" => "control '#{temp_dir}/moved'")
    assert_command 0, "generation 2 serves\n", "deploy", "--wait"
    server.wait_for_output(%r{takes commands at #{temp_dir}/moved})
    refute_path_exists control
    assert_command 0, /serving/, "status", control: ["--control", "#{temp_dir}/moved"]
  end

  def test_a_stop_obeys_drain_delay
    server = start("--drain-delay", "10m", "--ready-path", "/ready")
    assert_command 0, "the server stops\n", "stop"
    eventually("the delay") { server.get("/ready").status == 503 }
    assert_command 0, "the server stops\n", "stop", "--wait"
    assert_equal 0, server.wait.exitstatus
  end

  # The second deploy replaces a deploy that hangs. worker_boot_timeout of release 3 ends the deploy of release 4.
  def test_one_deploy_at_a_time
    server = start
    release(2, "config.ru" => "warn('at the gate')\nFile.read('#{temp_dir}/gate')")
    File.mkfifo("#{temp_dir}/gate")
    first = start_command("deploy", "--wait")
    server.wait_for_output(/^at the gate$/)
    assert_command 3, "bontebok: busy: a master starts already; --supersede replaces it\n", "deploy", "--wait"
    release(3, "config/bontebok.rb" => "worker_boot_timeout '3s'")
    assert_command 0, "generation 3 serves\n", "deploy", "--wait", "--supersede"
    assert_equal [1, true], [first.wait.exitstatus, first.output.text.include?("another deploy has replaced this one")]
    release(4, "config.ru" => "File.read('#{temp_dir}/gate')")
    assert_command 1, /did not get all of its workers ready within 3\.0 s/, "deploy", "--wait"
    totals = TotalsReader.new(server.pid)
    assert_equal([1, 1, 1], totals.look.values_at(*%w[superseded succeeded failed].map { |result| "deploy #{result}" }))
    assert(eventually { totals.notes(:end).one?("generation 1 (2 workers) ends: another generation or server serves") })
  end

  def test_commands_at_the_moment_of_a_deploy
    server = start
    deploy = { command: "deploy", wait: true }
    assert_equal([0, 3], ask_before_fork(server, deploy, deploy).map(&:first))
    assert_equal [[1, "another deploy has replaced this one"], [0, "generation 3 serves"]],
                 ask_before_fork(server, deploy, { supersede: true, **deploy })
    assert_equal [[1, "the server stops"], [0, "the server stops"]],
                 ask_before_fork(server, deploy, { command: "stop", now: true })
  end

  def test_a_reader_that_leaves_is_no_failure
    start
    [%w[status], %w[top --json], %w[deploy --wait]].each do |args|
      reader, writer = IO.pipe
      reader.close
      command = start_process(*ruby_client, *args, "--control", control, chdir: temp_dir, out: writer)
      writer.close
      assert_equal 0, command.wait.exitstatus
      assert_empty command.output.text
    end
  end

  def test_a_full_disk_is_named
    start
    command = start_process(*ruby_client, "status", "--control", control, chdir: temp_dir, out: "/dev/full")
    assert_equal 1, command.wait.exitstatus
    assert_match(/\Abontebok: No space left on device/, command.output.text)
  end

  def test_a_stop_ends_a_deploy
    server = start
    release(2, "config.ru" => "sleep")
    waiting = start_command("deploy", "--wait")
    eventually("the deploy") { status["state"] == "deploying" }
    assert_command 0, "the server stops\n", "stop", "--wait"
    assert_equal 0, server.wait.exitstatus
    assert_equal 1, waiting.wait.exitstatus
    assert_match(/the server stops/, waiting.output.text)
    refute_path_exists "#{temp_dir}/tmp/bontebok.control"
  end

  def test_workers_logs_and_status
    server = start
    assert_command 0, "3 workers\n", "workers", "+1"
    assert_command 0, "1 worker\n", "workers", "-2"
    assert_command 0, "2 workers\n", "workers", "2"
    assert_command 2, /N, \+N or -N/, "workers"
    former = wait_for_workers(server, 2)
    assert_command 0, "the workers are replaced\n", "restart-workers"
    now = wait_for_workers(server, 2, without: former)
    assert_equal [server.pid, 2, "serving", ["unix:#{temp_dir}/bontebok.sock"]],
                 status.values_at("pid", "workers", "state", "listeners")
    assert_equal now.sort, status["processes"].map { |process| process["pid"] }.sort
    assert_command 0, /\A1: serving generation 1.*\n(.*\n)(worker .*\n){2}bontebok .*, pid #{server.pid}; listening /,
                   "status"
    assert_command 0, "the log files are opened again\n", "reopen"
  end

  def test_load_balancers_see_that_the_server_drains
    server = start("--ready-path", "/ready")
    assert_equal 200, server.get("/ready").status
    assert_command 0, /choose other servers/, "drain"
    assert_equal [503, "draining"], [server.get("/ready").status, status["state"]]
    assert_serves 1, server
    deploy(server)
    assert_equal 503, server.get("/ready").status
    assert_command 0, /takes new clients/, "resume"
    assert_equal [200, "serving"], [server.get("/ready").status, status["state"]]
  end

  def test_one_process_drains_on_after_a_deploy
    server = start_current("-w", "0", "--control", control, "--ready-path", "/ready")
    assert_command 0, /choose other servers/, "drain"
    assert_command 0, "the new code serves\n", "deploy", "--wait"
    assert_equal [503, "draining"], [server.get("/ready").status, status["state"]]
    assert_command 0, /takes new clients/, "resume"
    assert_command 0, "the new code serves\n", "deploy", "--wait"
    assert_equal [200, "serving"], [server.get("/ready").status, status["state"]]
  end

  # The process that the application has forked lives longer than the server.
  def test_a_command_ends_if_one_process_fails_to_load_again
    server = start_current("-w", "0", "--control", control)
    release(2, "config.ru" => "File.write('../../pid', fork { sleep })\nraise 'broken'")
    assert_command 1, //, "deploy", "--wait"
    assert_equal 1, server.wait.exitstatus
  ensure
    Process.kill("KILL", Integer(File.read("#{temp_dir}/pid")))
  end

  def test_a_command_without_a_server_fails
    assert_command 1, "bontebok: no server takes commands at #{control}\n", "status"
    assert_command 2, /unknown option --sideways/, "deploy", "--sideways"
    assert_command 1, /: the server has no control socket: `control` is none$/, "status", control: %w[--control none]
    assert_command 0, /\AUsage: bontebok COMMAND/, "deploy", "--help"
  end

  private

  # The supervisor gets all requests before it starts a master. Returns [status, text] of each result.
  def ask_before_fork(server, *requests)
    stop_process(server.pid)
    clients = requests.map { |request| send_request(request) }
    server.signal("CONT")
    clients.map { |client| JSON.parse(client.read_to_end.lines.last).values_at("status", "text") }
  ensure
    clients&.each(&:close)
  end

  def send_request(request)
    Support::Client.new("unix:#{control}").tap do |client|
      client.write("#{JSON.generate({ version: 1, **request })}\n")
      client.finish_writing
    end
  end
end
