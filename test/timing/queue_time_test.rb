# frozen_string_literal: true

require "json"
require "test_helper"
require_relative "../integration/support/busy_worker"

# Tests the queue time of requests in the Rack environment and in the access log.
class QueueTimeTest < Support::TestCase
  include Support::OnceMore
  include BusyWorker

  # Responds with the queue times in env. /gate waits until the file "gate" exists.
  APPLICATION = <<~RUBY
    require "json"
    run(lambda do |env|
      if env["PATH_INFO"] == "/gate"
        $stderr.puts "at the gate"
        sleep 0.005 until File.exist?("gate")
      end
      [200, {}, [JSON.generate(env.select { |key, _| key.start_with?("bontebok.") })]]
    end)
  RUBY
  OWN = "bontebok.queue_time"
  PROXYS = "bontebok.proxy_queue_time"
  WAIT = 500 # ms
  SLACK = 400 # ms: the I/O thread reads a request up to one tick late, and a slow machine delays the ticks

  { io_thread: %w[-w 1 -t 1], siblings: %w[-w 2 -t 1], threads: %w[-w 1 -t 2] }.each do |name, args|
    define_method("test_the_queue_time_behind_busy_lanes_is_right_with_#{name}") do
      server = start(*args, "--access-log", log, "--access-log-format", "json")
      kept = Array.new(3) { connected(server) }
      waits = waits_behind(server, name == :io_thread ? 1 : 2) do
        kept.each { |client| client.request("GET", "/waits") }
      end

      assert_equal waits.sort.map { |wait| (wait * 1000).round }, logged("/waits", waits.size).sort
    end
  end

  # The connections wait in the kernel's accept queue.
  def test_the_queue_time_of_new_tcp_connections_includes_the_accept_queue
    server = start("-w", "2", "-t", "1", listen: :tcp)
    waits_behind(server, 2) do
      Array.new(3) { connect(server).tap { |client| client.request("GET", "/waits") } }
    end
  end

  def test_the_application_gets_the_queue_time_at_the_proxy_only_from_a_trusted_proxy
    { "127.0.0.1" => true, "10.0.0.0/8, unix" => false }.each do |trusted, believed|
      server = start("-w", "1", "--trusted-proxies", trusted, listen: :tcp)
      client = connect(server)
      client.request("GET", "/", { "X-Request-Start" => "t=#{Time.now.to_f - 100}" })
      assert_equal(believed, told(client).fetch(PROXYS, 0) > 100_000)
    end
  end

  def before_teardown
    temp_file("gate")
    super
  end

  def start(*args, **options)
    super(*args, rackup: APPLICATION, **options)
  end

  private

  def log
    File.join(temp_dir, "access.log")
  end

  # Returns a client with an open connection. The client has got one response.
  def connected(server)
    connect(server).tap do |client|
      sent = now
      client.request("GET", "/")
      told = told(client)
      assert_not_longer now - sent, told
    end
  end

  # Sends one request to /gate for each of `count` lanes, so that these lanes are busy.
  def block_lanes(server, count)
    Array.new(count) do |number|
      sent = now
      client = connect(server)
      client.request("GET", "/gate")
      eventually { server.output.text.scan("at the gate").size > number }
      [client, now - sent]
    end
  end

  # Makes `count` lanes busy. The block returns clients whose requests wait for a lane. Returns the queue times of these
  # requests, in ms.
  def waits_behind(server, count)
    busy = block_lanes(server, count)
    sent = now
    waiting = yield
    all_sent = now
    eventually { now - all_sent > WAIT }
    temp_file("gate")
    waits = waiting.map { |client| told(client).fetch(OWN) }
    busy.each { |client, took| assert_not_longer took, told(client) }
    waits.each { |wait| assert_includes (WAIT - SLACK)..(now - sent + SLACK), wait }
  end

  # Asserts that the queue time is at most `took` ms, plus SLACK.
  def assert_not_longer(took, told)
    assert_operator told.fetch(OWN, 0), :<, took + SLACK
    refute_includes told, PROXYS
  end

  def told(client)
    JSON.parse(client.read_response.body)
  end

  # The queue times of the requests for a path, in us.
  def logged(path, count)
    times = nil
    eventually do
      lines = File.read(log).scan(/^\{.+\}$/).map { |line| JSON.parse(line) }
      times = lines.filter_map { |line| line["queue_us"] if line["path"] == path }
      times.size == count
    end
    times
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
  end
end
