# frozen_string_literal: true

require_relative "../support/lane_case"

# The scoreboard shows which requests hold a thread for long.
class ScoreboardHeldTest < Support::LaneCase
  def setup
    super
    @go_on = Queue.new
    @scoreboard = Bontebok::Core::Scoreboard.new(8)
    @queue = UNIXSocket.pair(:SEQPACKET)
  end

  def teardown
    @queue.each(&:close)
    super
  end

  def test_a_thread_that_waits_for_a_body_is_shown
    server = serve_shown { |env| env["rack.input"].read && OK }
    server.connect do |client|
      client.write("POST /in?secret HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\n\r\n")
      await_held("POST /in", :body)
      client.write("x")
      client.read_response
    end
    await_free
  end

  def test_a_thread_with_a_stream_is_shown
    bodies = { "/call" => ->(stream) { stream.write(@go_on.pop) && stream.close },
               "/each" => Enumerator.new { |parts| parts << "begun" << @go_on.pop } }
    server = serve_shown { |env| [200, {}, bodies[env["PATH_INFO"]]] }
    bodies.each_key do |path|
      server.connect do |client|
        client.request("GET", path)
        await_held("GET #{path}", :stream)
        @go_on << "end"
        client.read_response
      end
      await_free
    end
  end

  # Another thread begins the response while the serving thread waits for the body.
  def test_a_stream_that_another_thread_has_begun_is_shown
    blocks = Queue.new
    body = Object.new
    go_on = @go_on
    server = serve_shown do |env|
      body.define_singleton_method(:each) { |&block| (blocks << block) && env["rack.input"].read && go_on.pop }
      [200, {}, body]
    end
    server.connect do |client|
      client.write("POST /in HTTP/1.1\r\nHost: test\r\nContent-Length: 1\r\n\r\n")
      await_held("POST /in", :body)
      blocks.pop.call("begun")
      client.write("x")
      eventually { @go_on.num_waiting == 1 }

      await_held("POST /in", :stream)
    ensure
      @go_on << "end"
    end
  end

  def test_other_requests_are_not_held
    server = serve_shown { |env| (env["PATH_INFO"] == "/" || @go_on.pop) && OK }
    server.get("/")
    server.connect do |client|
      client.request("GET", "/busy")
      eventually { lanes.include?(:request) }

      assert_empty @scoreboard.held[:threads]
      @go_on << true
      client.read_response
    end
  end

  private

  def serve_shown(&app)
    pair = @queue.map { |socket| lent(socket) }
    serve(settings: { unbuffered_bodies: "/in" }, siblings: [pair, @scoreboard], &app)
  end

  def lanes = @scoreboard.lanes.map { |lane| lane[:state] }

  def await_held(route, kind)
    eventually { @scoreboard.held[:threads] == { route => 1 } }

    assert_equal [[kind, route]], (@scoreboard.lanes.map { |lane| lane.values_at(:held, :label) } - [[nil, nil]])
    assert_operator @scoreboard.held[:queue_time], :<, 10_000
  end

  def await_free
    eventually { @scoreboard.held[:threads].empty? }
  end
end
