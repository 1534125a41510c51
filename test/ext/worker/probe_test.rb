# frozen_string_literal: true

require_relative "../support/lane_case"

# The settings ready_path and live_path, and Scoreboard#draining=.
class ExtProbeTest < Support::LaneCase
  SETTINGS = { ready_path: "/-/ready", live_path: "/-/live" }.freeze

  def setup
    super
    @scoreboard = Bontebok::Core::Scoreboard.new(4)
    @entered, @leave = Array.new(2) { Queue.new }
    queue = Socket.pair(:UNIX, :SEQPACKET).map { |socket| lent(socket) }
    @server = serve(settings: SETTINGS, siblings: [queue, @scoreboard]) do |env|
      @entered.push(:now) && @leave.pop if env["PATH_INFO"] == "/gate"
      [200, {}, [env["PATH_INFO"]]]
    end
  end

  def test_probes_do_not_reach_the_application
    %w[/-/ready /-/live].each { |path| assert_equal [200, "200 OK\n"], answer(path) }
    assert_equal [200, "/-/other"], answer("/-/other")
    response = @server.request("DELETE", "/-/ready")
    assert_equal [405, "GET, HEAD"], [response.status, response["Allow"]]
    @server.await_requests(1)
    assert_equal 1, @server.worker.requests
  end

  def test_the_scoreboard_decides_whether_the_server_is_ready
    refute_predicate @scoreboard, :draining?
    @scoreboard.draining = true
    assert_predicate @scoreboard, :draining?
    assert_equal [503, "503 Service Unavailable\n"], answer("/-/ready")
    assert_equal 200, answer("/-/live").first
    refute_predicate @server.get("/x"), :keep_alive?
    @scoreboard.draining = false
    assert_equal 200, answer("/-/ready").first
    assert_predicate @server.get("/x"), :keep_alive?
  end

  # The state is read when the response begins.
  def test_a_request_from_before_gets_a_response_that_ends_the_connection
    @server.connect do |client|
      client.request("GET", "/gate")
      @entered.pop
      @scoreboard.draining = true
      assert_equal 503, answer("/-/ready").first
      @leave.push(:now)
      refute_predicate client.read_response, :keep_alive?
    end
  end

  def test_a_path_that_is_too_long_is_rejected
    assert_raises(ArgumentError) { Bontebok::Core::Worker.new({ ready_path: "/#{'x' * 255}" }) }
    assert_raises(ArgumentError) { Bontebok::Core::Worker.new({ live_path: "/#{'x' * 255}" }) }
  end

  private

  def answer(path)
    response = @server.get(path)
    [response.status, response.body]
  end
end
