# frozen_string_literal: true

require "test_helper"
require_relative "../support/process_tree"

# drain_delay: after TERM the server serves on for a time, and shows that it will stop.
class ProcessDrainDelayTest < Support::TestCase
  include ProcessTree

  APPLICATION = "run ->(env) { [200, {}, [env['PATH_INFO']]] }\n"

  %w[0 2].each do |workers|
    define_method("test_requests_are_served_during_the_delay_with_w_#{workers}") do
      server = start("-w", workers, "--drain-delay", "10m")
      server.connect do |kept|
        assert_predicate kept.get("/before"), :keep_alive?
        drain(server, "TERM")
        [kept, Support::Client.new(server.address)].each { |client| assert_last_response(client) }
        assert_equal 503, server.get("/ready").status
        server.signal("TERM")
        server.wait_for_output(/ stopping$/)
      end
      assert_equal 0, server.wait.exitstatus
    end

    define_method("test_the_server_stops_after_the_delay_with_w_#{workers}") do
      server = start("-w", workers, "--drain-delay", "100ms")
      server.signal("QUIT")
      server.wait_for_output(/ draining: stops in 0\.1 s\n(?m:.*) stopping$/)
      assert_equal 0, server.wait.exitstatus
    end

    define_method("test_int_ends_the_delay_with_w_#{workers}") do
      server = start("-w", workers, "--drain-delay", "10m")
      drain(server, "QUIT")
      assert_equal 0, server.stop("INT").exitstatus
      assert_match(/ stopping at once$/, server.output.text)
    end
  end

  def test_the_other_signals_keep_their_meaning
    server = start("-w", "1", "--drain-delay", "10m", "--signal-hup", "stop")
    drain(server, "HUP")
    server.signal("USR1")
    server.wait_for_output(/worker \(pid \d+\) has left/)
    assert_equal "/after", server.get("/after").body
    assert_equal 0, server.stop("QUIT").exitstatus
  end

  # With -w 0, the program that is executed would not know the delay.
  def test_a_deploy_with_w_0_does_not_end_the_delay
    server = start("-w", "0", "--drain-delay", "10m")
    drain(server, "TERM")
    server.signal("USR2")
    server.wait_for_output(/ SIGUSR2: the server stops already$/)
    assert_equal 0, server.stop("TERM").exitstatus
  end

  # The deploy has ended the threads already.
  def test_term_ends_a_deploy_of_a_single_process
    make_gate
    server = start_bontebok(args: ["-w", "0", "--drain-delay", "10m"], rackup: GATED_APP)
    at_gate(server) do |client|
      server.signal("USR2")
      server.wait_for_output(/ is executed again/)
      server.signal("TERM")
      server.wait_for_output(/ stopping$/)
      open_gate
      assert_equal 200, client.read_response.status
    end
    assert_equal 0, server.wait.exitstatus
  end

  # With a low RLIMIT_FSIZE, an executed master and its workers have a scoreboard of their own. The same is true after a
  # deploy of a version with another layout of the scoreboard.
  def test_workers_with_a_scoreboard_of_their_own_drain
    server = start("-w", "1", "--drain-delay", "10m", rlimit_fsize: 40_000)
    server.signal("USR2")
    server.wait_for_output(/ the generations share only the listeners: (?m:.*) master \(pid \d+\) has left/)
    drain(server, "TERM")
    eventually("503") { server.get("/ready").status == 503 }
    server.signal("USR2")
    server.wait_for_output(/ w1 g3 ready (?m:.*) master \(pid \d+\) has left/)
    eventually("503") { server.get("/ready").status == 503 }
    assert_equal 0, server.stop("TERM").exitstatus
  end

  # The application reads the gate, which nobody opens.
  def test_a_server_that_is_not_ready_stops_at_once
    File.mkfifo(File.join(temp_dir, "gate"))
    server = start_bontebok(args: ["-w", "1", "--drain-delay", "10m"], ready: false,
                            rackup: "$stderr.puts 'loading'\nFile.read('gate')\n#{APPLICATION}")
    server.wait_for_output(/^loading$/)
    assert_equal 0, server.stop("TERM").exitstatus
  end

  private

  def start(*args, **options)
    start_bontebok(args: ["--ready-path", "/ready", *args], rackup: APPLICATION, **options).tap do |server|
      server.wait_for_output(/ ready in /)
      assert_equal 200, server.get("/ready").status
    end
  end

  def drain(server, signal)
    server.signal(signal)
    server.wait_for_output(/ draining: stops in 600\.0 s$/)
  end

  def assert_last_response(client)
    response = client.get("/during")
    assert_equal ["/during", "close"], [response.body, response["Connection"]]
    assert_equal :eof, client.wait_for_end
  ensure
    client.close
  end
end
