# frozen_string_literal: true

require "test_helper"
require_relative "../integration/support/busy_worker"

# How long a request waits beside a busy worker while another one is idle: what users of other servers have reported
# (the numbers are those of puma's issues), and the moments at which a wake-up could go to the wrong one.
class ProcessWaitingTest < Support::TestCase
  include Support::OnceMore
  include BusyWorker

  TRIES = 15
  KEPT = 10
  # What a request may wait longer than it does with nobody busy on the same machine at the same time.
  WAIT_LIMIT = 0.005

  # A long request, and ab -n 80 -c 4 beside it: a twentieth of them had to wait for the long one's end.
  %i[tcp unix].each do |transport|
    define_method("test_puma_3961_new_connections_over_#{transport}") do
      server = start("-w", "2", "-t", "1", listen: transport)
      busy = block(server, connect(server))
      20.times do
        clients = Array.new(4) { connect(server).tap { |client| client.request("GET", "/") } }
        clients.each { |client| assert_equal other_than(server, busy), client.read_response.body.to_i }
      end
      assert_equal busy, unblock(@clients.first)
    end
  end

  # A worker that was busy while a proxy has opened its connections has few of them, the other one many: their requests
  # waited for each other, a worker beside them idle.
  def test_puma_3892_connections_that_are_all_of_one_worker
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

  # A connection of the busy worker drips, so that its I/O thread wakes up as each new one comes: that is not for it.
  def test_a_new_connection_while_the_porter_is_awake
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

  # What a worker finds when it wakes up is a long request and another one.
  def test_two_requests_in_one_wake_up
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

  # There is more to do than time for it: those who came by the one listener, those who came by the other, and those who
  # were passed on. Each is told of as it begins, and takes long enough for the I/O thread to notice.
  def test_everybody_has_a_turn
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

  # As long as one worker is at the first gate and the other at the second, nobody is idle; whoever comes back first
  # serves those who have waited.
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

  # All are in the queue that the workers share.
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

  # Who has served a connection has it.
  def two_of_one_worker
    @served_by.keys.group_by { |client| @served_by[client] }.values.max_by(&:size).first(2)
  end

  # From the moment that the client's worker wakes up, and finds what was sent while it was stopped, to the answer. It
  # has gone to sleep before, or it would come back to what it had found last.
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

  # Of the tries: what else the machine does delays some of them, what is broken all.
  def quartile(&try)
    Array.new(TRIES, &try).sort[TRIES / 4]
  end
end
