# frozen_string_literal: true

require "bontebok/bontebok"
require "bontebok/cli/cli"
require "bontebok/sockets/control/watch"
require "fcntl"
require "io/console"
require "pty"
require "test_helper"
require_relative "../support/control_case"

# `bontebok status`. The command runs in the process of the test where this shows the same.
class StatusTest < Support::TestCase
  include ControlCase

  APP = <<~RUBY
    run(lambda do |env|
      if env["PATH_INFO"] == "/gate"
        $stderr.puts "at the gate"
        File.read("../../gate")
      end
      [env["PATH_INFO"] == "/error" ? 500 : 200, { "content-type" => "text/plain" }, ["ok"]]
    end)
  RUBY

  def setup
    super
    release(1, "config.ru" => APP)
    make_gate
  end

  def test_each_form_of_a_server_with_a_request
    server = start("-t", "2", "-E", "production", "--tag", "shop")
    3.times { server.get }
    server.get("/error")
    request_at_gate(server) do
      eventually("the label") { json["workers"].any? { |worker| worker["threads"].any? { |one| one["label"] } } }
      assert_json(json, server)
      assert_text(run_status[1], server)
      assert_equal ["1", "1"], table(run_status("--csv")[1]).values_at("busy", "responses_5xx")
      puma = JSON.parse(run_status("--format", "puma")[1])
      assert_equal [2, 1], [puma["workers"], puma["worker_status"].sum { |one| one["last_status"]["busy_threads"] }]
      assert_match(/^bontebok\.workers\.busy_workers\t1\t\d+$/, run_status("--format", "mackerel")[1])
      assert_terminal
      assert_memory_can_only_be_read
    end
    assert_empty server.output.text[/error .*|warn .*/].to_s
  end

  def test_a_server_that_finishes_its_requests_before_it_ends
    server = start("-t", "2")
    request_at_gate(server) do
      assert_command 0, "the server stops\n", "stop"
      server.wait_for_output(/ stopping$/)
      status, out = run_status
      assert_equal 0, status, out
      assert_match(/: stopping, generation 1 .*^worker \d g1 pid \d+: leaves, 1 of 2 busy; /m, out)
    end
    assert_equal 0, server.wait.exitstatus
  end

  def test_the_server_answers_once_and_may_be_frozen_then
    server = start
    command = start_process(*ruby_client, "status", "--follow", "--control", control)
    line = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \| waiting 0 \| busy 0 of 2 \| .*\n/
    command.wait_for_output(line)
    stop_process(server.pid)
    command.wait_for_output(/#{line}.*the supervisor \(pid #{server.pid}\) is stopped/m)
    server.signal("CONT")
    deploy(server)
    command.wait_for_output(%r{waiting .* req/s})
    command.signal("INT")
    assert_equal 0, command.wait.exitstatus
  end

  # All processes are frozen one after the other, so one server suffices.
  def test_processes_that_do_not_run_are_named
    server = start
    worker = wait_for_workers(server, 2).first
    former = master(server).pid
    stop_process(worker)
    assert_match(/^worker \d g1 pid #{worker}: IS STOPPED \(SIGSTOP\)/, run_status[1])
    stop_process(former)
    status, out = run_status
    assert_equal [0, "the master (pid #{former}) is stopped (SIGSTOP)\n"], [status, out.lines.first]
    stop_process(server.pid)
    assert_silent_supervisor(server, former)
  ensure
    [server&.pid, former, worker].compact.each { |pid| Process.kill("CONT", pid) }
  end

  def test_a_dead_master_is_told_while_its_workers_serve
    release(1, "config.ru" => "File.read('../../gate') if File.exist?('../../closed')\n#{APP}")
    server = start
    pids = wait_for_workers(server, 2)
    temp_file("closed")
    Process.kill("KILL", master(server).pid)
    found = eventually("the adoption") { run_status[1][/\Aa master has ended: the supervisor has adopted .*/] }
    assert_equal pids.sort, found.scan(/\d{2,}/).map(&:to_i).sort
    open_gate
  end

  def test_one_process_that_is_frozen
    server = start_current("-w", "0", "-t", "1", "--control", control)
    stop_process(server.pid)
    status, out = run_status
    assert_equal 1, status
    assert_match(/\Athe server \(pid #{server.pid}\) is stopped \(SIGSTOP\)\n.*^worker 1 g1 pid #{server.pid}: /m, out)
  ensure
    server&.signal("CONT")
  end

  private

  # Returns the exit status, standard output and standard error.
  def run_status(*flags)
    status = nil
    out, err = capture_io { status = Bontebok::CLI.run(["status", "--control", control, *flags]) }
    [status, out, err]
  end

  def json = JSON.parse(run_status("--json")[1])

  def table(csv) = csv.lines(chomp: true).map { |line| line.split(",", -1) }.transpose.to_h

  def assert_json(found, server)
    assert_equal ["serving", "cluster", 1, 2, 2, server.pid, "shop", ["unix:#{temp_dir}/bontebok.sock"], []],
                 found["server"].values_at("state", "mode", "generation", "workers", "threads", "pid", "tag",
                                           "listeners", "trouble")
    assert_equal({ "1xx" => 0, "2xx" => 3, "3xx" => 0, "4xx" => 0, "5xx" => 1 }, found["totals"]["responses"])
    assert_equal workers(server).sort, found["workers"].map { |worker| worker["pid"] }.sort
    found["workers"].each { |worker| assert_operator worker["pss"], :>, 1 << 20 }
    busy = found["workers"].flat_map { |worker| worker["threads"] }.select { |one| one["state"] == "request" }
    assert_equal ["GET /gate"], busy.map { |one| one["label"] }.uniq
    assert_equal [1, "S"], [busy.size, busy.first["run"]]
  end

  def assert_text(text, server)
    assert_match(/\Ashop: serving generation 1 since \d\d:\d\d \(start\), 2 workers of 2 threads, up \d+ s\n/, text)
    assert_match(/^waiting 0 \| busy 1 of 4 \| 4 responses since the start, .* \| 5xx 1 \| rejected 0 \| accept /, text)
    assert_match(%r{^worker \d g1 pid \d+: 1 of 2 busy; .*\n  thread \d  .*  GET /gate  waited .*  in the kernel: },
                 text)
    assert_match(/^bontebok .*, pid #{server.pid}; listening on unix:/, text)
  end

  def assert_silent_supervisor(server, former)
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    status, out = run_status
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, 10
    assert_equal 1, status
    assert_equal ["the supervisor (pid #{server.pid}) is stopped (SIGSTOP)\n",
                  "the master (pid #{former}) is stopped (SIGSTOP)\n"], out.lines.first(2)
    assert_match(/: generation 1 serves since .*, 2 workers.*\nwaiting - \| busy 0 of 2 .*(\n.*)?\nworker \d g1/, out)
  end

  # One screen is drawn again and again until Ctrl-C.
  def assert_terminal
    PTY.open do |terminal, slave|
      slave.winsize = [5, 40]
      command = start_process(*ruby_client, "top", "--control", control, in: slave, out: slave, err: slave)
      slave.close
      screen = read_screens(terminal, 2)
      assert_match(/\A\rshop: serving generation 1 since.{5,20}\e\[K\r\nwaiting 0 /, screen)
      assert_operator screen.gsub(/\e\[\d*\w/, "").split(/[\r\n]+/).map(&:size).max, :<, 40
      assert_match(/\e\[4Ashop: serving/, screen)
      command.signal("INT")
      assert_equal 0, command.wait.exitstatus
    end
  end

  # The queue is a socket, which is only peeked at.
  def assert_memory_can_only_be_read
    watch = Bontebok::Watch.new(Bontebok::ControlConnection.new(control))
    assert watch.wait(Bontebok::Deadline.new(20))
    assert_equal %w[scoreboard totals counter queue], watch.descriptors.keys
    files = watch.descriptors.except("queue").values.flatten
    assert_equal([File::RDONLY], files.map { |file| file.fcntl(Fcntl::F_GETFL) & Fcntl::O_ACCMODE }.uniq)
  ensure
    watch&.close
  end

  # Returns what the terminal got until a text was drawn over `count` times.
  def read_screens(terminal, count)
    screen = +""
    eventually("#{count} screens") do
      screen << terminal.read_nonblock(10_000, exception: false).to_s.sub("wait_readable", "")
      screen.scan("\e[J").size > count
    end
    screen
  end
end
