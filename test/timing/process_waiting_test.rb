# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# Tests how long a request waits while one worker is busy and another worker is idle. Some tests reproduce issues of
# puma. The number of the issue is in the test's name.
class ProcessWaitingTest < Support::TestCase
  include Support::OnceMore
  include BusyWorker

  TRIES = 15
  KEPT = 10
  # A busy worker may delay a request by at most this time, in seconds.
  WAIT_LIMIT = 0.005

  # In puma's issue, `ab -n 80 -c 4` runs during a long request. A twentieth of ab's requests wait until the long
  # request ends.
  %i[tcp unix].each do |transport|
    define_method("test_puma_3961_new_connections_do_not_wait_for_a_long_request_over_#{transport}") do
      server = start("-w", "2", "-t", "1", listen: transport)
      busy = block(server, connect(server))
      20.times do
        clients = Array.new(4) { connect(server).tap { |client| client.request("GET", "/") } }
        clients.each { |client| assert_equal other_than(server, busy), client.read_response.body.to_i }
      end
      assert_equal busy, unblock(@clients.first)
    end
  end

  # One worker is busy while a proxy opens its connections, so the other worker gets most of the connections. In puma's
  # issue, the requests on these connections waited for each other although the first worker had become idle.
  def test_puma_3892_connections_of_one_worker_use_both_workers
    server = start("-w", "2", "-t", "1", listen: :tcp)
    3.times do |round|
      busy = block(server, primed = connect(server), "gate#{round}")
      crowded = Array.new(4) { connect(server) }
      crowded.each { |client| assert_equal other_than(server, busy), ask(client) }
      unblock(primed, "gate#{round}")
      assert_two_at_a_time(server, crowded, round)
      @clients.each(&:close).clear
    end
  end

  # Single bytes arrive on a connection of the busy worker. So this worker's I/O thread is awake when a new connection
  # comes. The idle worker must accept the new connection.
  def test_a_new_connection_goes_to_the_idle_worker_while_the_io_thread_of_the_other_is_awake
    server = start("-w", "2", "-t", "1", listen: :tcp)
    usual = quartile { Support::Deadline.seconds { ask_once(server) } }
    keep_connections(server)
    first, dripping = two_of_one_worker
    idle = other_than(server, block(server, first))
    dripping.write("GET /")
    waited = quartile do
      dripping.write("a")
      Support::Deadline.seconds { assert_equal idle, ask_once(server) }
    end
    assert_operator waited, :<, usual + WAIT_LIMIT
    unblock(first)
  end

  # When the worker wakes up, it finds a long request and another request.
  def test_the_second_of_two_requests_in_one_wake_up_does_not_wait_for_the_first
    server = start("-w", "2", "-t", "1", listen: :tcp)
    keep_connections(server)
    usual = quartile { |_try| seconds_after_a_nap(two_of_one_worker.last) }
    waited = quartile do |try|
      first, second = two_of_one_worker
      busy = @served_by[first]
      taken = seconds_after_a_nap(second) { first.request("GET", "/gate#{try}") }
      assert_equal other_than(server, busy), @served_by[second]
      assert_equal busy, unblock(first, "gate#{try}")
      taken
    end
    assert_operator waited, :<, usual + WAIT_LIMIT
  end

  # Many requests wait at both listeners and in the shared queue. The application logs the path when a request begins. A
  # request takes 2 ms, so that the I/O thread sees that the lane is busy.
  def test_the_listeners_and_the_shared_queue_are_served_in_turns
    server = start("-w", "2", "-t", "1", "-l", "unix:#{temp_dir}/other.sock", listen: :tcp, rackup: <<~RUBY)
      run(lambda do |env|
        $stderr.puts env["PATH_INFO"]
        sleep 0.002
        sleep 0.005 until File.exist?("gate") || env["PATH_INFO"] == "/"
        [200, {}, [Process.pid.to_s]]
      end)
    RUBY
    kept = keep_connections(server).keys
    busy = Array.new(2) { connect(server).tap { |client| client.request("GET", "/first") } }
    eventually { server.output.lines.count("/first") == 2 }
    pass_on(server, kept)
    queued = server.addresses.flat_map { |address| Array.new(KEPT) { ask_later(address) } }
    temp_file("gate")
    [*busy, *kept, *queued].each { |client| assert_equal 200, client.read_response.status }
    begun = server.output.lines.grep(%r{\A/(kept|tcp|unix)})
    %w[/kept /tcp /unix].each { |kind| assert_includes 3..7, begun.first(15).count(kind), begun }
  end

  private

  # In each worker, a request waits until the test opens its gate (creates a file), so no worker is idle. The second
  # worker's gate opens first, so this worker serves the waiting requests.
  def assert_two_at_a_time(server, clients, round)
    first, second, *rest = clients
    one = block(server, first, "gate#{round}a")
    assert_equal other_than(server, one), block(server, second, "gate#{round}b")
    rest.each { |client| client.request("GET", "/") }
    other = unblock(second, "gate#{round}b")
    rest.each { |client| assert_equal other, client.read_response.body.to_i }
    assert_equal one, unblock(first, "gate#{round}a")
  end

  def ask_once(server)
    server.connect { |client| ask(client) }
  end

  # Sends one request from each client, and waits until all requests are in the shared queue.
  def pass_on(server, clients)
    before = sockets(server)
    clients.each { |client| client.request("GET", "/kept") }
    eventually { sockets(server) == before - clients.size }
  end

  def ask_later(address)
    client = Support::Client.new(address).tap { |one| @clients << one }
    client.request("GET", address.unix? ? "/unix" : "/tcp")
    client
  end

  def keep_connections(server)
    @served_by = Array.new(KEPT) { connect(server) }.to_h { |client| [client, ask(client)] }
  end

  # Returns two clients with connections that the same worker has served.
  def two_of_one_worker
    @served_by.keys.group_by { |client| @served_by[client] }.values.max_by(&:size).first(2)
  end

  # Freezes the client's worker, sends the requests, and continues the worker. Returns the seconds from SIGCONT to the
  # response. The worker must sleep in epoll_wait before it is frozen. Otherwise it would first handle the result of an
  # earlier epoll_wait.
  def seconds_after_a_nap(client)
    pid = @served_by[client]
    eventually { Support::ProcessTable.asleep?(pid) }
    stop_process(pid)
    yield if block_given?
    client.request("GET", "/")
    Support::Deadline.seconds do
      Process.kill("CONT", pid)
      @served_by[client] = client.read_response.body.to_i
    end
  ensure
    Process.kill("CONT", pid)
  end

  # Returns the lower quartile of the tries. Other work of the machine delays some tries. A fault of the server delays
  # all tries.
  def quartile(&try)
    Array.new(TRIES, &try).sort[TRIES / 4]
  end
end
