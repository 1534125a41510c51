# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"
require "bontebok/cli/cli"

# The executable, built for systems without Linux: poll(2), one process. test/support/portable runs these tests.
class OneProcessServerTest < Support::TestCase
  # A request for /gate waits until the file `open` exists.
  APP = <<~RUBY
    run(lambda do |env|
      sleep 0.01 until env["PATH_INFO"] != "/gate" || File.exist?("open")
      [200, {}, [env["PATH_INFO"], " ", Process.pid.to_s]]
    end)
  RUBY
  CLIENTS = 8

  def setup
    assert Bontebok::Core::PORTABLE, "run test/support/portable with this file"
  end

  def test_the_default_is_one_process
    server = start_bontebok(args: ["-t", "3", "--control", "#{temp_dir}/control"], rackup: APP)
    server.wait_for_output(/: one process, 3 threads$/)
    assert_equal "/x #{server.pid}", server.get("/x").body
    assert_equal [server.pid], server.group.map(&:pid)
    refute_match(/ warn /, server.output.text)
    assert_status server
    assert_equal 0, server.stop("TERM").exitstatus
  end

  def test_a_number_of_workers_causes_a_warning
    server = start_bontebok(args: %w[-w 2], rackup: APP)
    server.wait_for_output(/warn .*command line: max_workers 2 has no effect: on this system, one process serves$/)
    assert_equal "/ #{server.pid}", server.get("/").body
  end

  # The I/O thread reads the connections of a busy thread, and passes the requests to the other thread.
  def test_no_kept_connection_waits_for_a_busy_thread
    server = start_bontebok(args: %w[-t 2], rackup: APP)
    clients = Array.new(CLIENTS) { Support::Client.open(server.address).tap { |client| ask(client, "/first") } }
    gated = clients.shift
    gated.request("GET", "/gate")
    3.times { |turn| clients.each { |client| ask(client, "/#{turn}") } }
    temp_file("open")
    assert_match(%r{\A/gate }, gated.read_response.body)
    assert_equal 0, server.stop("TERM").exitstatus
  ensure
    [*clients, *gated].each(&:close)
  end

  # The end of the server is an event in the poller of each thread. The I/O thread, which polls the connections of the
  # busy thread, must hear of it once, not again and again.
  def test_a_server_that_waits_for_its_last_request_costs_no_processor_time
    server = start_bontebok(args: %w[-t 2], rackup: APP)
    clients = Array.new(CLIENTS) { Support::Client.open(server.address).tap { |client| ask(client, "/first") } }
    clients.first.request("GET", "/gate")
    server.signal("TERM")
    server.wait_for_output(/stopping/)
    before = Support::ProcessTable.cpu_seconds(server.pid)
    refute clients.first.socket.wait_readable(2)
    assert_operator Support::ProcessTable.cpu_seconds(server.pid) - before, :<, 0.25
    temp_file("open")
    assert_match(%r{\A/gate }, clients.first.read_response.body)
  ensure
    clients.each(&:close)
  end

  def test_a_deploy_executes_the_process_in_its_place
    server = start_bontebok(rackup: APP)
    server.signal("USR2")
    server.wait_for_output(/executed again.*ready in/m)
    assert_equal "/ #{server.pid}", server.get("/").body
  end

  private

  # No file has the memory, so the server tells what its threads do.
  def assert_status(server)
    status = nil
    out, err = capture_io { status = Bontebok::CLI.run(["status", "--control", "#{temp_dir}/control"]) }
    assert_equal [0, ""], [status, err]
    assert_match(/\Athe numbers of this server cannot be read: they are in no file\n.*: serving generation 1/, out)
    assert_match(/^worker 1 pid #{server.pid}: 0 of 3 busy; 1 request, /, out)
  end

  def ask(client, path)
    client.request("GET", path)
    assert_match(/\A#{path} /, client.read_response.body)
  end
end
