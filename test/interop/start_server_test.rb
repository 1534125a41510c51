# frozen_string_literal: true

require "test_helper"
require_relative "support/handover_case"

# start_server (of Server::Starter) opens the listeners and executes the server. test/soak tests that no request is lost
# while start_server replaces the server.
class StartServerTest < Interop::HandoverCase
  # An application that responds with its pid. If a FIFO exists, the application waits until somebody opens it, and
  # fails to load if "bad" is written to it.
  GATED = <<~RUBY
    if File.exist?("gate")
      $stderr.puts "loading"
      raise "cannot be loaded" if File.read("gate") == "bad"
    end
    run ->(env) { [200, {}, [Process.pid.to_s]] }
  RUBY

  def test_the_server_listens_on_exactly_the_addresses_of_start_server
    path = File.join(temp_dir, "a=1.sock")
    starter = start_server("--port", "127.0.0.1:0", "--port", "[::1]:0", "--path", path)
    starter.wait_for_output(/ ready in \d+ ms$/)
    assert_equal 3, addresses(starter).size
    v4, v6, unix = addresses(starter)
    assert_equal(["127.0.0.1 #{v4[/\d+\z/]}", "[::1] #{v6[/\d+\z/]}", "localhost 80"],
                 [v4, v6, unix].map { |address| Support::Client.body_from(address) })
    assert_equal "unix:#{path}", unix
    assert_equal 0, starter.stop.exitstatus
  end

  def test_the_server_also_listens_on_its_own_address
    starter = start_server("--port", "127.0.0.1:0", args: ["-w", "0", "-l", "unix:#{temp_dir}/own.sock"])
    starter.wait_for_output(/listening on .*own\.sock$/)
    assert_equal "localhost 80", Support::Client.body_from("unix:#{temp_dir}/own.sock")
    starter.stop
    refute_path_exists "#{temp_dir}/own.sock"
  end

  # start_server tells the old server to stop after a second. The second server fails to load, and start_server starts
  # the third one.
  def test_a_server_serves_until_a_newer_one_is_ready
    skip "in the long form" unless Support::Length::LONG

    starter = start_server("--path", path = File.join(temp_dir, "a.sock"), args: ["-w", "0"], rackup: GATED)
    starter.wait_for_output(/ ready in \d+ ms$/)
    old = Support::Client.body_from("unix:#{path}")
    File.mkfifo(gate = File.join(temp_dir, "gate"))
    starter.signal("HUP")
    %w[bad good].each_with_index do |word, index|
      await(starter, / is starting: this server serves until the other one is ready$/, index + 1)
      await(starter, /^loading$/, index + 1)
      assert_equal old, Support::Client.body_from("unix:#{path}")
      File.write(gate, word)
    end
    starter.wait_for_output(/old worker #{old} died, status:0$/)
    refute_equal old, Support::Client.body_from("unix:#{path}")
    assert_equal 0, starter.stop.exitstatus
  end

  # start_server tells both servers to stop.
  def test_nobody_waits_if_start_server_stops_while_a_server_loads
    skip "in the long form" unless Support::Length::LONG

    starter = start_server("--path", File.join(temp_dir, "a.sock"), args: ["-w", "1"], rackup: GATED)
    starter.wait_for_output(/ ready in \d+ ms$/)
    File.mkfifo(File.join(temp_dir, "gate"))
    starter.signal("HUP")
    starter.wait_for_output(/ is starting: this server serves until the other one is ready$/)
    assert_equal 0, starter.stop.exitstatus
  end

  def test_the_newer_server_takes_over_the_control_socket
    skip "in the long form" unless Support::Length::LONG

    FileUtils.mkdir("#{temp_dir}/tmp")
    starter = start_server("--path", File.join(temp_dir, "a.sock"), args: ["-w", "1"], rackup: GATED)
    starter.wait_for_output(/ ready in \d+ ms$/)
    starter.signal("HUP")
    starter.wait_for_output(/old worker \d+ died, status:0$/)
    status = Support::ChildProcess.run(*SERVER, "status", chdir: temp_dir).output.text
    newer = starter.output.text.scan(/starting new worker (\d+)/).last.first
    assert_match(/\b#{newer}\b/, status)
    assert_equal 0, starter.stop.exitstatus
  end

  # The test's directory has a control socket.
  def test_the_newer_server_gets_idle_connections
    FileUtils.mkdir("#{temp_dir}/tmp")
    path = File.join(temp_dir, "a.sock")
    starter = start_server("--path", path, args: ["-w", "1"], rackup: GATED)
    starter.wait_for_output(/ ready in \d+ ms$/)
    Support::Client.open("unix:#{path}") do |client|
      former = client.get.body
      starter.signal("HUP")
      starter.wait_for_output(/old worker \d+ died, status:0$/)
      response = client.get
      assert_predicate response, :keep_alive?
      refute_equal former, response.body
    end
    assert_equal 0, starter.stop.exitstatus
  end

  private

  def await(process, line, count)
    eventually("#{count} times #{line}", seen: -> { process.output.text }) do
      process.output.text.scan(line).size == count
    end
  end
end
