# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/process_tree"

# Greedy clients pipeline requests without a pause. One worker with one lane serves the greedy clients and all other
# clients.
class LoadFairnessTest < Support::TestCase
  include Support::OnceMore
  include ProcessTree

  GREEDY = 4
  NEW_CLIENTS = 300
  # Limits in seconds. The aim is a p99 below 10 ms. P99_LIMIT is higher, because other work of the machine delays some
  # clients. The median is in seconds of the worker's processor time. It is normally below 0.5 ms. It is above 20 ms if
  # the lane does not serve the connections in turns.
  P99_LIMIT = 0.2
  MEDIAN_LIMIT = 0.005
  # Responses that the lane sends on one connection before it serves the next connection.
  TURN = 16
  PIPELINE = "GET /greedy HTTP/1.1\r\nHost: a\r\n\r\n" * 500

  # /gate waits until the test opens the gate (a named pipe). A response has the number of requests that were served
  # after the gate had opened. A request to /greedy needs some processor time, so that all clients wait for the worker.
  APPLICATION = <<~RUBY
    served = 0
    run(lambda do |env|
      served += 1
      if env["PATH_INFO"] == "/gate"
        $stderr.puts "at the gate"
        File.read("gate")
        served = 0
      end
      400.times {} if env["PATH_INFO"] == "/greedy"
      [200, {}, [served.to_s]]
    end)
  RUBY

  def setup
    make_gate
    @server = start_bontebok(listen: :tcp, args: %w[-w 1 -E production], rackup: APPLICATION)
  end

  # Each client first gets one response, so that the lane has accepted its connection. All clients wait when the gate
  # opens. The new client has sent its request last. Each of the other clients can get TURN responses twice before the
  # new client gets its response.
  def test_each_waiting_client_gets_a_turn
    clients = Array.new(GREEDY + 2) { Support::Client.new(@server.address) }
    clients.each { |client| client.request("GET", "/new") }.each(&:read_response)
    first, *greedy, new_one = clients
    first.request("GET", "/gate")
    @server.wait_for_output(/at the gate/)
    greedy.each { |client| client.write(PIPELINE) }
    new_one.request("GET", "/new")
    open_gate
    assert_operator new_one.read_response.body.to_i, :<=, (GREEDY + 1) * 2 * TURN
    greedy.each { |client| 500.times { client.read_response } }
  ensure
    clients&.each(&:close)
  end

  def test_greedy_pipelining_clients_do_not_delay_new_clients
    greedy = fork { be_greedy }
    assert_equal 200, @server.get.status
    worker = workers(@server).first
    times, used = Array.new(NEW_CLIENTS) { seconds_of_a_new_client(worker) }.transpose.map(&:sort)
    assert_operator times[(times.size * 99) / 100], :<, P99_LIMIT
    assert_operator used[used.size / 2], :<, MEDIAN_LIMIT
    assert_nil Process.wait(greedy, Process::WNOHANG), "the greedy ones have ended"
  ensure
    Process.kill("KILL", greedy)
    Process.wait(greedy)
  end

  private

  # Returns the time of a request, and the processor time that the worker has used meanwhile.
  def seconds_of_a_new_client(worker)
    now = -> { [Support::Deadline.now, Process.clock_gettime(Support::ProcessTable.clock(worker))] }
    began = now.call
    assert_equal 200, @server.get("/new").status
    now.call.zip(began).map { |after, before| after - before }
  end

  # Writes requests to all connections as fast as they accept bytes, and discards the responses.
  def be_greedy
    sockets = Array.new(GREEDY) { @server.address.connect }
    unsent = sockets.to_h { |socket| [socket, ""] }
    loop do
      readable, writable = IO.select(sockets, sockets)
      readable.each { |socket| exit!(1) unless socket.read_nonblock(1 << 20, exception: false) }
      writable.each { |socket| unsent[socket] = write_some(socket, unsent[socket]) }
    end
  ensure
    exit!(1)
  end

  def write_some(socket, rest)
    rest = PIPELINE if rest.empty?
    sent = socket.write_nonblock(rest, exception: false)
    sent.is_a?(Integer) ? rest.byteslice(sent..) : rest
  end
end
