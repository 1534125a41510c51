# frozen_string_literal: true

require "test_helper"
require "bontebok/sockets/diag/inet_diag"
require_relative "../support/process_tree"

# Two servers with reuse_port have the same address, and know nothing of each other. One of them stops. Its connections
# are served, and new connections go to the other server.
class ProcessDepartureTest < Support::TestCase
  include ProcessTree

  # The clients of these tests do not close their connections.
  SHARED = %w[--reuse-port --control none --keepalive-drain 50ms].freeze

  def teardown
    @clients&.each(&:close)
  end

  { "TERM" => %w[-w 1], "QUIT" => %w[-w 0], "HUP" => %w[-w 1 --signal-hup stop] }.each do |signal, args|
    define_method(:"test_new_connections_go_to_the_other_server_after_#{signal}_with_#{args[1]}_workers") do
      old, queued, other = two_servers(args)
      leave(old, signal)
      answers = pids(other, 20)
      open_gate
      assert_equal [[old_pid], workers_or_itself(other)], [queued.map { |client| read_pid(client) }.uniq, answers.uniq]
      assert_equal 0, old.wait.exitstatus
      assert_equal workers_or_itself(other), pids(other, 20).uniq
    end
  end

  # A program may stop the old server too early.
  def test_a_server_serves_until_the_other_server_has_loaded_its_application
    make_gate
    old = start(:tcp)
    skip "the kernel does not show servers that are starting" unless shown?
    newcomer = start_bontebok(listen: nil, args: ["-w", "1", *SHARED, "-l", old.address], ready: false,
                              rackup: "$stderr.puts 'loading'\nFile.read('gate')\n#{GATED_APP}")
    newcomer.wait_for_output(/loading/)
    old.signal("TERM")
    old.wait_for_output(/another server is starting/)
    assert_equal workers(old), pids(old, 3).uniq
    open_gate
    assert_equal 0, old.wait.exitstatus
    assert_equal workers(newcomer), pids(old, 3).uniq
  end

  # The request at the gate is lost with its worker.
  def test_a_worker_that_dies_meanwhile_is_replaced
    old, queued, = two_servers(%w[-w 1])
    leave(old)
    Process.kill("KILL", old_pid)
    assert_equal [false], queued.map { |client| read_pid(client) == old_pid }.uniq
    assert_equal 0, old.wait.exitstatus
  end

  def test_another_signal_to_stop_is_ignored_but_int_stops_at_once
    %w[0 1].each do |workers|
      old, = two_servers(["-w", workers])
      leave(old)
      2.times { old.signal("TERM") }
      assert_predicate old, :running?
      assert_equal 0, old.stop("INT").exitstatus
      File.unlink(gate)
    end
  end

  def test_a_server_that_is_alone_stops_at_once
    server = start_bontebok(listen: :tcp, args: ["-w", "1", *SHARED], rackup: GATED_APP)
    assert_equal 0, server.stop.exitstatus
    refute_match(/another server/, server.output.text)
  end

  def test_the_newcomer_can_leave_again
    old = start(:tcp)
    newcomer = start(nil, "-l", old.address)
    pids(old, 20)
    leave(newcomer)
    assert_equal 0, newcomer.wait.exitstatus
    assert_equal workers(old), pids(old, 20).uniq
  end

  # With -w 0, a deploy executes the process in place.
  def test_a_process_that_was_executed_again_leaves_its_addresses
    old = start(:tcp, "-w", "0", "-l", "unix:#{temp_dir}/a.sock")
    old.signal("USR2")
    eventually("the next program") { old.output.text.scan(/ ready in \d+ ms$/).size == 2 }
    newcomer = start(nil, "-l", old.address, "-l", "unix:#{temp_dir}/a.sock")
    leave(old)
    assert_equal 0, old.wait.exitstatus
    newcomer.addresses.each { |address| Support::Client.open(address) { |client| assert_equal 200, client.get.status } }
  end

  # A deploy would execute the process again, and so forget the signal to stop.
  def test_a_process_that_leaves_its_addresses_is_not_executed_again
    old, queued, = two_servers(%w[-w 0])
    leave(old)
    old.signal("USR2")
    old.wait_for_output(/the server stops already$/)
    open_gate
    queued.each { |client| read_pid(client) }
    assert_equal 0, old.wait.exitstatus
  end

  def test_a_newcomer_takes_over_the_path_of_a_unix_socket
    old = start(:unix)
    kept = connect(old)
    newcomer = start(:unix)
    assert_equal workers(newcomer), pids(old, 5).uniq
    assert_equal workers(old), [ask(kept)]
    assert_equal 0, old.stop.exitstatus
    assert_equal workers(newcomer), pids(newcomer, 5).uniq
    assert_equal 0, newcomer.stop.exitstatus
    assert_equal ["config.ru"], Dir.children(temp_dir)
  end

  def test_the_former_server_gets_its_path_back
    old = start(:unix)
    newcomer = start(:unix)
    assert_equal 0, newcomer.stop.exitstatus
    assert_equal workers(old), pids(old, 5).uniq
  end

  private

  def start(listen, *args)
    start_bontebok(listen: listen, args: ["-w", "1", *SHARED, *args], rackup: GATED_APP).tap do |server|
      server.wait_for_output(/ ready in \d+ ms$/)
    end
  end

  # Linux 6.8 and newer show sockets that are only bound.
  def shown?
    Addrinfo.tcp("127.0.0.1", 0).bind do |socket|
      Bontebok::InetDiag.sockets(socket.local_address, Bontebok::InetDiag::BOUND).any?
    end
  end

  # Returns a server whose only thread is busy, clients that wait in its queue, and another server.
  def two_servers(args)
    make_gate
    old = start_bontebok(listen: :tcp, args: [*SHARED, *args], rackup: GATED_APP)
    old.wait_for_output(/ ready in \d+ ms$/)
    @old_pid = workers_or_itself(old).first
    connect(old).request("GET", "/gate")
    old.wait_for_output(/at the gate/)
    queued = Array.new(3) { connect(old).tap { |client| client.request("GET", "/") } }
    [old, queued, start(nil, "-l", old.address)]
  end

  attr_reader :old_pid

  def leave(server, signal = "TERM")
    server.signal(signal)
    server.wait_for_output(/#{server.address}: another server gets the new connections$/)
  end

  def workers_or_itself(server)
    workers(server).then { |pids| pids.empty? ? [server.pid] : pids }
  end

  def connect(server)
    (@clients ||= []).push(Support::Client.open(server.address.to_s)).last
  end

  # Returns the pids that have responded on new connections.
  def pids(server, count)
    Array.new(count) { ask(connect(server)) }
  end

  def ask(client)
    client.request("GET", "/")
    read_pid(client)
  end

  def read_pid(client)
    response = client.read_response
    assert_equal 200, response.status
    response.body.to_i
  end
end
