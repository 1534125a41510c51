# frozen_string_literal: true

require_relative "../support/lane_case"

# The env of a request says how long the request has waited for a lane, in ms.
class QueueTimeTest < Support::LaneCase
  KEY = "bontebok.queue_time"
  PROXY_KEY = "bontebok.proxy_queue_time"
  WAIT = 20 # ms

  { copied: {}, frozen: { frozen_env: true } }.each do |kind, options|
    define_method("test_the_time_that_a_request_has_waited_is_in_an_env_that_is_#{kind}") do
      serve_with_gate(**options)
      wait_behind_gate

      # The wait counts from the moment when the I/O thread begins to read connections. The request can arrive after
      # this moment.
      assert_includes WAIT..(now - @gated_at), @envs.pop.fetch(KEY)
    ensure
      @leave.push(:now)
      [@gated, @kept].each { |client| client&.close }
    end
  end

  def test_the_scoreboard_shows_the_same_time
    scoreboard = Bontebok::Core::Scoreboard.new(1)
    serve_with_gate(siblings: [Socket.pair(:UNIX, :SEQPACKET).map { |socket| lent(socket) }, scoreboard])
    wait_behind_gate

    assert_equal @envs.pop.fetch(KEY), scoreboard.lanes.first[:queue_time]
  ensure
    @leave.push(:now)
    [@gated, @kept].each { |client| client&.close }
  end

  def test_the_time_since_a_trusted_proxy_got_the_request_is_in_env
    started = Time.now.to_f - 100
    { "unix" => Float, "127.0.0.1" => NilClass }.each do |trusted, kind|
      env = env_of(http("X-Request-Start: t=#{started}"), settings: { trusted_proxies: trusted })

      assert_kind_of kind, env[PROXY_KEY]
      assert_operator env[PROXY_KEY], :>=, 100_000 if env[PROXY_KEY]
      assert_equal "t=#{started}", env["HTTP_X_REQUEST_START"]
    end
    refute_includes env_of(http("X-Request-Start: t=#{started + 1000}")), PROXY_KEY
  end

  def test_a_value_that_is_no_network_is_an_error
    assert_raises(ArgumentError) { Bontebok::Core::Worker.new({ trusted_proxies: "everybody" }) }
  end

  private

  # Starts a server with one lane. The lane runs a request that ends after @leave.push. The lane also has a second
  # connection (@kept), which is idle.
  def serve_with_gate(**options)
    @envs, entered, @leave = Array.new(3) { Queue.new }
    server = serve(**options) do |env|
      env["PATH_INFO"] == "/first" || @envs.push(env)
      entered.push(:now) && @leave.pop if env["PATH_INFO"] == "/gate"
      OK
    end
    @gated, @kept = Array.new(2) { server.connect }
    3.times { @kept.get("/first") }
    server.await_requests(3) # otherwise the I/O thread might read the request for /gate
    @gated_at = now
    @gated.request("GET", "/gate")
    entered.pop
  end

  # Another request waits until the gate opens.
  def wait_behind_gate
    @kept.request("GET", "/")
    eventually { @kept.unread_by_server.zero? } # the I/O thread has read the request
    read = now
    eventually { now - read > WAIT }
    @leave.push(:now)
    [@gated, @kept].each { |client| assert_equal 200, client.read_response.status }
    assert_nil @envs.pop[KEY]
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
  end
end
