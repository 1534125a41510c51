# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"

# The server calls the body's method close exactly once, whatever happens to the body.
class CloseTest < Support::LaneCase
  Body = Support::Failing::Body

  def self.ignore(error)
    yield
  rescue error
    nil
  end

  # Bodies that are endless, or longer than the client reads before it closes the connection.
  ENDLESS = {
    each: -> { Body.new(->(out) { loop { out.call("x" * 100_000) } }) },
    stream: -> { Body.new(call: ->(stream) { loop { stream << ("x" * 100_000) } }) },
    rescued: -> { Body.new(->(out) { 100.times { CloseTest.ignore(IOError) { out.call("x" * 100_000) } } }) }
  }.freeze

  def test_close_is_called_after_each
    assert_closed(Body.new(->(out) { out.call("x") }))
  end

  def test_close_is_called_after_call
    assert_closed(Body.new(call: ->(stream) { (stream << "x").close_write }))
    assert_closed(Body.new(call: ->(stream) { (stream << "x").close }))
  end

  def test_close_is_called_after_to_ary
    assert_closed(Body.new(->(out) { out.call("x") }, to_ary: -> { ["x"] }))
    assert_closed(Body.new(to_ary: -> { ["x"] }, closed?: -> { false }))
    assert_closed(Body.new(to_ary: -> { ["#{close}x"] }, closed?: -> { closed.positive? }))
  end

  # The body's method closed? may describe the file that the body reads. Therefore the server calls close, whatever
  # closed? returns.
  def test_close_is_called_whatever_closed_says
    [-> { true }, -> { false }, -> { raise "closed? was called" }].each do |closed|
      assert_closed(Body.new(->(out) { out.call("x") }, closed?: closed))
      assert_closed(Body.new(->(out) { out.call("x") }, to_ary: -> { ["x"] }, closed?: closed))
      assert_closed(Body.new(->(out) { out.call("x") }, to_ary: -> { ["#{close}x"] }, closed?: closed))
      assert_closed(Body.new(call: ->(stream) { (stream << "x").close }, closed?: closed))
    end
    assert_closed(Body.new(to_ary: -> { ["x"] }, closed?: -> { true }))
  end

  def test_close_is_called_when_no_body_is_sent
    body = Body.new(->(_) { raise "each was called" })
    assert_closed(body, method: "HEAD")
    assert_closed(Body.new(call: ->(_) { raise "called" }), method: "HEAD")
    assert_closed(Body.new(->(_) { raise "each was called" }), status: 204)
    assert_closed(Body.new(->(_) { raise "each was called" }), status: 304)
  end

  def test_close_comes_after_the_end_of_the_response
    go_on = Queue.new
    server = serve { [200, {}, Body.new(->(out) { out.call("x") }, close: -> { go_on.pop })] }
    server.connect do |client|
      client.request("GET", "/")

      assert_equal "x", client.read_response.body
    ensure
      go_on << true
    end
  end

  # When close runs, the server has sent a 500 or has aborted the response.
  def test_a_write_in_close_raises_after_a_failure
    { [] => 500, ["sent"] => nil }.each do |parts, status|
      refused = kept = nil
      body = Body.new(->(out) { (kept = out) && parts.each(&out) && raise("in each") },
                      close: -> { refused = assert_raises(IOError) { kept.call("late") } })
      server = serve { |env| env["PATH_INFO"] == "/" ? [200, {}, body] : OK }
      server.connect do |client|
        client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\nGET /next HTTP/1.1\r\nHost: test\r\n\r\n")

        assert_equal([status, 200], [client.read_response.status, client.read_response.status]) if status
        assert_raises(Support::Client::Closed) { client.read_response } unless status
      end
      assert refused
      assert_equal(["in each"], server.reports.map { |report| report.error.message })
      server.reports.clear
    end
  end

  ENDLESS.each do |name, make|
    define_method(:"test_close_is_called_when_the_client_leaves_#{name}") do
      ensured = 0
      body = make.call
      body.define_singleton_method(:close) { super().tap { ensured += 1 } }
      server = serve(settings: { response_buffer: 1000, spool_max: 1 }) do |env|
        env["PATH_INFO"] == "/" ? [200, {}, body] : OK
      end
      server.connect do |client|
        client.request("GET", "/")
        client.read(1000)
      end

      assert_equal "ok", server.get("/ok").body
      assert_equal [1, 1], [body.closed, ensured]
    end
  end

  def test_the_body_gets_an_exception_at_the_write_timeout
    seen = []
    started = Queue.new
    body = Body.new(lambda { |out|
      begin
        started << true
        loop { out.call("x" * 100_000) }
      rescue IOError => e
        seen << e.class
        raise
      ensure
        seen << :ensured
      end
    })
    server = serve(settings: { response_buffer: 1000, spool_max: 1, write_timeout: 50 }) do |env|
      env["PATH_INFO"] == "/" ? [200, {}, body] : OK
    end
    server.connect do |client|
      client.request("GET", "/")
      started.pop

      assert_equal "ok", server.get("/ok").body
    end

    assert_equal [Bontebok::Core::ClientGone, :ensured], seen
    assert_equal 1, body.closed
  end

  # After the write timeout, bytes of the response are missing. The client must not take later bytes for the end of a
  # complete response.
  def test_a_client_that_reads_again_after_the_write_timeout_sees_an_abort
    given_up = Queue.new
    body = Body.new(lambda { |out|
      begin
        loop { out.call("x" * 1_000_000) }
      rescue IOError
        given_up << true
      end
      CloseTest.ignore(IOError) { out.call("more") }
    })
    server = serve(settings: { response_buffer: 1000, spool_max: 1, write_timeout: 50 }) { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/")
      given_up.pop
      assert_raises(Support::Client::Closed) { client.read_response }
    end

    assert_equal [nil], server.stop
    assert_equal 1, body.closed
  end

  def test_another_error_after_the_client_is_gone_is_reported
    body = Body.new(lambda { |out|
      begin
        loop { out.call("x" * 100_000) }
      ensure
        raise "cleaning up failed"
      end
    })
    server = serve(settings: { response_buffer: 1000, spool_max: 1 }) { [200, {}, body] }
    server.connect do |client|
      client.request("GET", "/")
      client.read(1000)
    end

    assert_equal "cleaning up failed", server.next_report.error.message
  end

  def test_a_body_without_close_is_sent
    assert_equal "x", serve { [200, {}, ["x"].each] }.get.body
  end

  private

  def assert_closed(body, method: "GET", status: 200)
    server = serve { |env| env["PATH_INFO"] == "/" ? [status, {}, body] : OK }

    assert_equal status, server.request(method, "/").status
    server.get("/after") # there is one lane, so the first request has ended
    assert_equal 1, body.closed
  end
end
