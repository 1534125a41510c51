# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Signals that stop a server (see docs/SIGNALS.md).
class ProcessSignalsTest < Support::TestCase
  include ProcessTree

  def test_term_and_quit_finish_requests_in_flight_and_queued_requests
    make_gate
    [%w[TERM -w 1], %w[QUIT -w 1], %w[TERM -w 0], %w[QUIT -w 0]].each do |signal, *args|
      server = start_bontebok(listen: :tcp, args: args, rackup: GATED_APP)
      in_flight, queued = stop_with_two_requests(server, signal)
      [in_flight, queued].each do |client|
        response = client.read_response
        assert_equal [200, false], [response.status, response.keep_alive?]
        client.close
      end
      assert_equal 0, server.wait.exitstatus, args.inspect
      assert_raises(Errno::ECONNREFUSED) { server.connect }
    end
  end

  def test_an_idle_connection_is_closed_after_keepalive_drain
    server = start_bontebok(args: ["-w", "1", "--keepalive-drain", "50ms"], rackup: GATED_APP)
    server.connect do |client|
      client.request("GET", "/")
      assert_predicate client.read_response, :keep_alive?
      server.signal("TERM")
      assert_equal :eof, client.wait_for_end
    end
    assert_equal 0, server.wait.exitstatus
  end

  def test_a_kept_alive_connection_gets_a_last_response_after_term
    server = start_bontebok(args: ["-w", "1", "--keepalive-drain", "5"], rackup: GATED_APP)
    server.connect do |client|
      client.get
      wait_until_draining(workers(server).first) { server.signal("TERM") }
      client.request("GET", "/")
      refute_predicate client.read_response, :keep_alive?
    end
    assert_equal 0, server.wait.exitstatus
  end

  def test_a_worker_that_does_not_finish_in_time_is_killed_and_logged
    server = start_bontebok(args: ["-w", "2", "--graceful-timeout", "100ms"],
                            rackup: "run ->(_) { sleep if $stderr.puts('asleep').nil? }\n")
    server.connect do |client|
      client.request("GET", "/")
      server.wait_for_output(/asleep/)
      pids = workers(server)
      server.signal("TERM")
      named = server.wait_for_output(/worker [12] \(pid (\d+)\) did not end within 0\.1 s: killed/)
      assert_includes pids, named[1].to_i
    end
    assert_equal 0, server.wait.exitstatus
  end

  def test_with_w_0_the_process_does_not_wait_longer_than_the_graceful_timeout
    server = start_bontebok(args: %w[-w 0 --graceful-timeout 100ms --pidfile a.pid], rackup: "run ->(_) { sleep }\n")
    server.connect do |client|
      client.request("GET", "/")
      server.signal("TERM")
      server.wait_for_output(/requests were not finished in time/)
    end
    assert_equal 0, server.wait.exitstatus
    refute_path_exists "#{temp_dir}/a.pid"
  end

  # One lane (thread) is busy, and one lane is idle.
  def test_int_stops_the_server_at_once_and_logs_no_warning
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers, "-t", "2"],
                              rackup: "run ->(_) { sleep if $stderr.puts('asleep').nil? }\n")
      server.connect do |client|
        client.request("GET", "/")
        server.wait_for_output(/asleep/)
        assert_equal 0, server.stop("INT").exitstatus
        refute_match(/ (warn|error) /, server.output.text)
      end
    end
  end

  def test_int_after_term_stops_the_server_at_once
    server = start_bontebok(args: ["-w", "1"], rackup: "run ->(_) { sleep if $stderr.puts('asleep').nil? }\n")
    server.connect do |client|
      client.request("GET", "/")
      server.wait_for_output(/asleep/)
      server.signal("TERM")
      server.wait_for_output(/stopping/)
      assert_equal 0, server.stop("INT").exitstatus
    end
  end

  def test_a_stop_that_is_under_way_is_logged_once
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers], rackup: "run ->(_) { sleep if $stderr.puts('asleep').nil? }\n")
      server.connect do |client|
        client.request("GET", "/")
        server.wait_for_output(/asleep/)
        repeat(server, "TERM", "QUIT")
        server.stop("INT")
      end
      assert_equal ["stopping", "stopping at once", "stopped"], server.output.text.scan(/stopp.*/), "-w #{workers}"
    end
  end

  def test_int_from_a_terminal_ends_all_processes
    server = start_bontebok(args: ["-w", "2"], rackup: GATED_APP)
    server.wait_for_output(/ ready in \d+ ms$/)
    Process.kill("INT", -server.pid)
    assert_equal 0, server.wait.exitstatus
    refute_match(/ended|backtrace|Interrupt/, server.output.text)
  end

  def test_term_to_every_process_at_once_loses_no_request
    make_gate
    server = start_bontebok(args: ["-w", "1"], rackup: GATED_APP)
    in_flight, queued = stop_with_two_requests(server, "TERM", to: -server.pid)
    assert_equal([200, 200], [in_flight, queued].map { |client| client.read_response.status })
    [in_flight, queued].each(&:close)
    assert_equal 0, server.wait.exitstatus
  end

  def test_hup_may_be_a_graceful_stop
    make_gate
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers, "--signal-hup", "stop"], rackup: GATED_APP)
      in_flight, queued = stop_with_two_requests(server, "HUP")
      assert_equal([200, 200], [in_flight, queued].map { |client| client.read_response.status })
      [in_flight, queued].each(&:close)
      assert_equal 0, server.wait.exitstatus
    end
  end

  # The worker hangs in an ensure clause.
  def test_a_second_int_kills_the_workers
    server = start_bontebok(args: ["-w", "2"], rackup: <<~RUBY)
      run(lambda do |_|
        sleep if $stderr.puts("asleep").nil?
      ensure
        sleep if $stderr.puts("stuck").nil?
      end)
    RUBY
    server.connect do |client|
      client.request("GET", "/")
      server.wait_for_output(/asleep/)
      server.signal("INT")
      server.wait_for_output(/stuck/)
      assert_equal 0, server.stop("INT").exitstatus
    end
    assert_match(/stopping with SIGKILL.*worker [12] \(pid \d+\) has not ended: killed/m, server.output.text)
    refute_match(/did not end within/, server.output.text)
  end

  private

  # Sends USR2 after each signal. When the server has logged USR2, it has also handled the signal that was sent just
  # before.
  def repeat(server, *signals)
    signals.each_with_index do |signal, index|
      server.signal(signal)
      eventually { server.output.text.scan("stopping").any? }
      server.signal("USR2")
      eventually { server.output.text.scan("SIGUSR2").size > index }
    end
  end

  # Sends the signal while a request for /gate is served and a second connection waits in the accept queue. Then opens
  # the gate.
  def stop_with_two_requests(server, signal, to: server.pid)
    in_flight = server.connect.tap { |client| client.request("GET", "/gate") }
    server.wait_for_output(/at the gate/)
    queued = server.connect.tap { |client| client.request("GET", "/") }
    wait_until_draining(workers(server).first || server.pid) { Process.kill(signal, to) }
    open_gate
    [in_flight, queued]
  end

  # Runs the block, and waits until the process drains. A process that drains has closed its listener.
  def wait_until_draining(pid)
    before = Support::ProcessTable.sockets(pid)
    yield
    eventually { (before - Support::ProcessTable.sockets(pid)).any? }
  end
end
