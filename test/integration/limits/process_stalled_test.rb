# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# worker_timeout: the master kills and replaces a worker that hangs, or a worker that SIGSTOP has frozen.
class ProcessStalledTest < Support::TestCase
  include ProcessTree

  # /lock calls sleep(3) without releasing Ruby's lock. A C extension can do the same.
  APPLICATION = <<~RUBY
    require "fiddle"

    LIBC_SLEEP = Fiddle::Function.new(Fiddle::Handle::DEFAULT["sleep"], [Fiddle::TYPE_INT], Fiddle::TYPE_INT,
                                      need_gvl: true)
    run(lambda do |env|
      case env["PATH_INFO"]
      when "/lock" then LIBC_SLEEP.call(600)
      when "/gate" then $stderr.puts("at the gate: \#{Process.pid}") || File.read("gate")
      when "/compute"
        till = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 3
        nil while Process.clock_gettime(Process::CLOCK_MONOTONIC) < till
      end
      [200, {}, [Process.pid.to_s]]
    end)
  RUBY

  def start(*args)
    make_gate
    start_bontebok(args: ["--worker-timeout", "1s", "--graceful-timeout", "10m", *args], rackup: APPLICATION)
  end

  def test_a_worker_that_keeps_rubys_lock_is_replaced
    [["-w", "1"], ["-w", "1", "-t", "2"], ["-w", "1", "--preload", "false"]].each do |args|
      server = start(*args)
      former = wait_for_workers(server, 1)
      ask_in_vain(server, "/lock?secret")
      assert_replaced(server, former, "GET /lock")
      server.stop
      File.unlink(gate)
    end
  end

  # The first request has come before the worker is ready.
  def test_a_worker_that_hangs_in_its_first_request_is_replaced
    make_gate
    server = start_bontebok(args: %w[--worker-timeout 1s -w 1 --preload false], rackup: <<~RUBY + APPLICATION)
      unless File.exist?("loaded")
        File.write("loaded", "")
        Bontebok::Heartbeat.prepend(Module.new do
          def initialize(*) = $stderr.puts("\#{Process.pid} waits") || (File.read("gate") && super)
        end)
      end
    RUBY
    former = [Integer(server.wait_for_output(/(\d+) waits/)[1])]
    server.connect do |client|
      client.request("GET", "/lock")
      open_gate
      assert_includes %i[eof reset], client.wait_for_end
    end
    assert_replaced(server, former, "GET /lock")
  end

  # An idle worker shows no heartbeat (Worker#rest). The timeout must work for its next request, too.
  def test_a_worker_that_hangs_in_the_first_request_after_an_idle_time_is_replaced
    server = start("-w", "1")
    former = wait_for_workers(server, 1)
    assert_equal 200, server.get.status
    eventually("the worker to be at rest") { Support::ProcessTable.asleep?(former.first) }
    ask_in_vain(server, "/lock")
    assert_replaced(server, former, "GET /lock")
  end

  def test_a_frozen_worker_with_a_request_is_replaced
    server = start("-w", "2")
    wait_for_workers(server, 2)
    server.connect do |client|
      client.request("GET", "/gate")
      pid = Integer(server.wait_for_output(/at the gate: (\d+)/)[1])
      stop_process(pid)
      assert_includes %i[eof reset], client.wait_for_end
      server.wait_for_output(/worker \d \(pid #{pid}\) has not moved for 1.0 s, with these requests: .*: killed$/)
      wait_for_workers(server, 2, without: [pid])
    end
    assert_equal 200, server.get.status
  end

  # The frozen worker has the connection, so no other process can read the request.
  def test_a_frozen_worker_without_a_request_is_replaced
    server = start("-w", "1")
    former = wait_for_workers(server, 1)
    server.connect do |client|
      client.request("GET", "/")
      assert_equal 200, client.read_response.status
      eventually("the worker to be done with it") { Support::ProcessTable.asleep?(former.first) }
      stop_process(former.first)
      client.request("GET", "/")
      assert_includes %i[eof reset], client.wait_for_end
    end
    told = "worker (pid #{former.first}) has not moved for 1.0 s: its process is frozen, without a request: killed\n"
    server.wait_for_output(/ error .* #{Regexp.escape(told)}/)
    wait_for_workers(server, 1, without: former)
    assert_ended server, "hung", former.first,
                 "worker_timeout: has not moved for 1.0 s: its process is frozen, without a request"
    assert_equal 200, server.get.status
  end

  def test_a_worker_that_computes_or_waits_for_long_is_kept
    server = start("-w", "1", "-t", "2")
    former = wait_for_workers(server, 1)
    server.connect do |client|
      client.request("GET", "/gate")
      assert_equal 200, server.get("/compute").status
      open_gate
      assert_equal 200, client.read_response.status
    end
    assert_equal former, workers(server)
  end

  # The worker and the master are frozen together. The master must not count the seconds in which it was frozen.
  def test_a_worker_is_kept_after_all_processes_were_frozen
    server = start("-w", "1")
    former = wait_for_workers(server, 1)
    at_gate(server) do |client|
      all = [*former, master(server).pid]
      all.each { |pid| stop_process(pid) }
      assert client.quiet?(2)
      all.reverse_each { |pid| Process.kill("CONT", pid) }
      assert client.quiet?(0.5)
      open_gate
      assert_equal 200, client.read_response.status
    end
    assert_equal former, workers(server)
  end

  def test_there_is_no_worker_timeout_in_development
    server = start_bontebok(args: ["-w", "1", "--check"], ready: false)
    server.wait
    assert_match(/^worker_timeout +0 /, server.output.text)
    server = start_bontebok(args: ["-w", "1", "-E", "production", "--check"], ready: false)
    server.wait
    assert_match(/^worker_timeout +60s? /, server.output.text)
  end

  private

  def ask_in_vain(server, target)
    server.connect do |client|
      client.request("GET", target)
      assert_includes %i[eof reset], client.wait_for_end
    end
  end

  def assert_replaced(server, former, request)
    told = "worker (pid #{former.first}) has not moved for 1.0 s, with these requests: #{request}: killed\n"
    server.wait_for_output(/ error .* #{Regexp.escape(told)}/)
    wait_for_workers(server, 1, without: former)
    assert_equal 200, server.get.status
  end
end
