# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# An application that hangs in a request or in its exit handlers. Every process must still end.
class ProcessStuckTest < Support::TestCase
  include ProcessTree

  STUCK_REQUEST = <<~RUBY
    run(lambda do |_|
      sleep if $stderr.puts("asleep").nil?
    ensure
      sleep
    end)
  RUBY

  STUCK_EXIT = <<~RUBY
    at_exit { sleep if $stderr.puts("leaving").nil? }
    run ->(_) { [200, {}, []] }
  RUBY

  # The supervisor waits for the master longer than the master waits for its workers. Otherwise the supervisor would
  # kill the master first, and workers would be left.
  def test_int_leaves_no_worker
    server = start_bontebok(args: ["-w", "2"], rackup: STUCK_REQUEST)
    in_a_request(server) { assert_equal 0, server.stop("INT").exitstatus }
    assert_match(/worker [12] \(pid \d+\) did not end within 2 s: killed/, server.output.text)
    refute_match(/master .* did not end/, server.output.text)
  end

  def test_int_after_term_leaves_no_worker
    server = start_bontebok(args: ["-w", "1", "--preload", "false"],
                            rackup: "at_exit { sleep }\n#{STUCK_REQUEST}")
    in_a_request(server) do
      server.signal("TERM")
      server.wait_for_output(/stopping/)
      assert_equal 0, server.stop("INT").exitstatus
    end
  end

  def test_with_w_0_int_does_not_wait_for_a_request
    server = start_bontebok(args: ["-w", "0"], rackup: STUCK_REQUEST)
    in_a_request(server) { assert_equal 0, server.stop("INT").exitstatus }
    assert_includes 0.1..2.0, seconds_for_the_exit(server)
  end

  def test_exit_handlers_have_the_rest_of_the_graceful_timeout
    server = start_bontebok(args: ["-w", "0", "--graceful-timeout", "1"], rackup: STUCK_EXIT)
    assert_equal 0, server.stop("TERM").exitstatus
    assert_includes 0.1..1.0, seconds_for_the_exit(server, "leaving\n")
  end

  def test_int_ends_exit_handlers
    server = start_bontebok(args: ["-w", "0"], rackup: STUCK_EXIT)
    server.signal("TERM")
    server.wait_for_output(/leaving/)
    server.signal("TERM")
    assert_equal Signal.list["INT"], server.stop("INT").termsig
  end

  # The first INT has stopped the server, so the exit status is 0.
  def test_a_second_int_in_exit_handlers_keeps_the_exit_status
    server = start_bontebok(args: ["-w", "0"], rackup: STUCK_EXIT)
    server.signal("INT")
    server.wait_for_output(/leaving/)
    assert_equal 0, server.stop("INT").exitstatus
  end

  # While Ruby finalizes objects, Ruby's handler of INT is no longer installed.
  def test_a_second_int_after_exit_handlers_keeps_the_exit_status
    make_gate
    temp_file("bontebok.rb", <<~RUBY)
      pid = Process.pid
      ObjectSpace.define_finalizer($finalized = Object.new, proc do
        next unless Process.pid == pid
        $stderr.write("finalizing\n")
        File.read("gate")
      end)
    RUBY
    [%w[-w 0], %w[-w 1]].each do |args|
      server = start_bontebok(args: [*args, "-c", "bontebok.rb"], rackup: GATED_APP)
      server.wait_for_output(/ ready in \d+ ms$/)
      server.signal("INT")
      server.wait_for_output(/finalizing/)
      server.signal("INT")
      open_gate
      assert_equal 0, server.wait.exitstatus, args.inspect
    end
  end

  def test_exit_handlers_of_an_orphan_have_a_time_limit
    [%w[--preload true], %w[--preload false]].each do |args|
      server = start_bontebok(args: ["-w", "1", "--graceful-timeout", "100ms", *args], rackup: STUCK_EXIT)
      server.wait_for_output(/ ready in \d+ ms$/)
      server.signal("KILL")
      server.wait_for_group
      assert_empty server.group
    end
  end

  # graceful_timeout (2 s) is the limit for the request and the exit together. The request takes 0.5 s.
  def test_exit_handlers_of_an_orphan_have_the_rest_of_the_graceful_timeout
    make_gate
    server = start_bontebok(args: %w[-w 1 --graceful-timeout 2 --keepalive-drain 10ms], rackup: <<~RUBY)
      at_exit { sleep }
      run(lambda do |_|
        $stderr.puts "asleep"
        File.read("gate")
        sleep 0.5
        [200, { "connection" => "close" }, []]
      end)
    RUBY
    in_a_request(server) do |client|
      [server.pid, master(server).pid].each { |pid| Process.kill("KILL", pid) }
      server.wait_for_output(/leaves: the master is gone/)
      open_gate
      client.read_response
      client.close
      assert_operator seconds_for_the_exit(server), :<, 1.8
    end
    server.wait_for_group
  end

  def test_exit_handlers_and_threads_finish_their_work
    %w[0 1].each do |workers|
      server = start_bontebok(args: ["-w", workers], rackup: <<~RUBY)
        at_exit { $stderr.puts "handler of \#{Process.pid}" }
        run(lambda do |_|
          thread = Thread.new { begin; sleep; ensure; $stderr.puts "thread of \#{Process.pid}"; end }
          Thread.pass until thread.stop?
          [200, {}, [Process.pid.to_s]]
        end)
      RUBY
      pid = server.get.body
      server.stop
      %w[handler thread].each { |who| assert_includes server.output.text, "#{who} of #{pid}\n" }
    end
  end

  private

  # Returns the seconds in the log line "the exit took longer than ...".
  def seconds_for_the_exit(server, before = "")
    server.wait_for_output(/#{before}.* error \d+ \S+ \S+ the exit took longer than (\d\.\d+) s/)[1].to_f
  end

  def in_a_request(server)
    server.connect do |client|
      client.request("GET", "/")
      server.wait_for_output(/asleep/)
      yield client
    end
  end
end
