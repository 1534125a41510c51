# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# Applications that end their process or their thread. The replacement is ready before the worker leaves.
class ProcessLeavingTest < Support::TestCase
  include ProcessTree

  APPLICATION = <<~RUBY.freeze
    use(Class.new do
      define_method(:initialize) { |app| @app = app }
      define_method(:call) do |env|
        case env["PATH_INFO"]
        when "/exit" then exit
        when "/fail" then exit(3)
        when "/memory" then raise NoMemoryError
        when "/kill" then Thread.current.kill
        when "/watchdog" then [200, {}, [Thread.new { exit }.inspect]]
        when "/fault"
          Thread.new { (Thread.current.abort_on_exception = true) && raise("no more") }
          [200, {}, []]
        when "/late"
          lane = Thread.current
          Thread.new { (Thread.pass until lane.stop?) || lane.raise("late") }
          [200, {}, [Process.pid.to_s]]
        else @app.call(env)
        end
      end
    end)
    #{GATED_APP}
  RUBY
  # These times are so long that a test that waits for them fails.
  LONG = %w[--keepalive-drain 10m --graceful-timeout 10m].freeze

  %w[/exit /memory /kill /watchdog /fault].each do |path|
    define_method(:"test_no_client_waits_for_a_worker_that_leaves_after#{path.tr("/", "_")}") do
      server = start_bontebok(args: ["-w", "1", *LONG], rackup: APPLICATION)
      server.connect do |idle|
        old = idle.get.body
        cause(server, path)
        server.wait_for_output(/\(pid #{old}\) leaves when its replacement is ready/)
        eventually { server.get.body != old }
        wait_for_workers(server, 1, without: [old.to_i])

        refute_equal old, idle.get.body, "others go on with what it has kept"
      end
    end
  end

  def test_a_worker_that_leaves_and_does_not_finish_is_killed
    make_gate
    server = start_bontebok(args: %w[-w 1 -t 2 --graceful-timeout 100ms], rackup: APPLICATION)
    at_gate(server) do |client|
      old = server.get.body
      server.get("/exit")
      server.wait_for_output(/\(pid #{old}\) did not end within 0.1 s: killed/)
      client.wait_for_end

      refute_equal old, server.get.body
    end
  end

  # If an exception ends a thread, Ruby also raises the exception in the main thread in two cases: the exception is
  # SystemExit, or the thread has abort_on_exception.
  { "/watchdog" => /warn \d+ \S+ \S+ the application ends this process: SystemExit/,
    "/fault" => /error \d+ \S+ \S+ a thread of the application ends this process: no more/ }.each do |path, log|
    define_method(:"test_a_request_in_flight_is_finished_after#{path.tr("/", "_")}") do
      make_gate
      %w[0 1].each do |workers|
        server = start_bontebok(args: ["-w", workers, "-t", "2", *LONG], rackup: APPLICATION)
        server.connect do |client|
          client.request("GET", "/gate", { "Connection" => "close" })
          server.wait_for_output(/at the gate/)
          server.get(path)
          server.wait_for_output(log)
          open_gate

          assert_equal 200, client.read_response.status
        end
        server.stop
      end
    end
  end

  # No code handles ALRM. For INT, the application has restored Ruby's default handler.
  %w[ALRM INT].each do |signal|
    define_method(:"test_the_signal_that_ends_a_process_is_logged_#{signal.downcase}") do
      server = start_bontebok(args: %w[-w 1], rackup: "#{<<~RUBY}#{GATED_APP}")
        use(Class.new do
          define_method(:initialize) { |app| @app = app }
          define_method(:call) { |env| trap("INT", "DEFAULT") && @app.call(env) }
        end)
      RUBY
      old = server.get.body.to_i
      wait_until_it_waits(server, old)
      Process.kill(signal, old)
      server.wait_for_output(/ error #{old} w1 g1 SIG#{signal} ends this process$/)
      wait_for_workers(server, 1, without: [old])
      refute_includes workers(server), old
    end
  end

  # The replacement is ready before the worker runs its exit handlers.
  def test_no_client_waits_for_the_exit_handlers_of_a_worker_that_leaves
    server = start_bontebok(args: ["-w", "1", *LONG], rackup: "at_exit { sleep }\n#{APPLICATION}")
    old = server.get.body
    server.get("/watchdog")
    server.wait_for_output(/\(pid #{old}\) leaves when its replacement is ready/)
    eventually { server.get.body != old }
    refute_equal old, server.get.body
    server.stop("INT")
  end

  # A single process (-w 0) has no replacement.
  { "/exit" => 0, "/fail" => 1, "/memory" => 1, "/kill" => 1, "/watchdog" => 0, "/fault" => 1 }.each do |path, status|
    define_method(:"test_with_w_0_the_process_finishes_and_ends_after#{path.tr("/", "_")}") do
      server = start_bontebok(args: %w[-w 0], rackup: APPLICATION)
      server.connect do |idle|
        idle.get
        cause(server, path)

        assert_equal server.pid.to_s, idle.get.body
      end
      assert_equal status, server.wait.exitstatus
      server.wait_for_output(/ stopped$/)
    end
  end

  def test_with_w_0_the_graceful_timeout_limits_the_exit
    make_gate
    server = start_bontebok(args: %w[-w 0 -t 2 --graceful-timeout 100ms], rackup: APPLICATION)
    at_gate(server) do
      server.get("/fail")

      assert_equal 1, server.wait.exitstatus
    end
  end

  def test_a_thread_that_gets_an_exception_after_its_request_serves_the_next_request
    server = start_bontebok(args: %w[-w 1], rackup: APPLICATION)
    old = server.get("/late").body
    server.wait_for_output(/error \d+ \S+ \S+ outside of a request: late \(RuntimeError\)/)

    assert_equal old, server.get.body
  end

  private

  # Waits until the main thread has taken an event, and so waits for events. Only then it logs the signal.
  def wait_until_it_waits(server, pid)
    eventually("the worker to rest") { title(pid).include?(" idle") }
    server.get
    eventually("the worker to note a request") { title(pid).include?(" busy") }
  end

  # The client may get a response or a closed connection.
  def cause(server, path)
    server.get(path)
  rescue Support::Client::Closed
    nil
  end
end
