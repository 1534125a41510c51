# frozen_string_literal: true

require_relative "../support/lane_case"
require_relative "../support/failing"

# Tests the arguments of on_error, and how the server uses its result.
class OnErrorTest < Support::LaneCase
  Body = Support::Failing::Body
  PLAIN = "500 Internal Server Error\n"

  def test_a_string_is_the_text_of_the_response
    asked = []
    server = failing(show_errors: true, on_error: ->(*all) { asked.concat(all) && "sorry \xff" })
    response = server.get

    assert_equal [500, "sorry \xff".b, "text/plain; charset=utf-8"],
                 [response.status, response.body, response["content-type"]]
    assert_equal [server.next_report.error, "/"], [asked.first, asked.last["PATH_INFO"]]
  end

  def test_an_array_is_the_whole_response
    body = Body.new(->(out) { out.call("page") })
    server = failing(on_error: ->(*) { [503, { "content-type" => "text/html" }, body] })
    response = server.get
    server.await_requests(1)

    assert_equal [503, "page", "text/html", 1], [response.status, response.body, response["content-type"], body.closed]
    assert_equal "boom", server.next_report.error.message
  end

  def test_after_another_result_or_an_exception_the_plain_response_is_sent
    [-> {}, -> { 7 }, -> { Object.new }, -> { raise NotImplementedError }].each do |hook|
      server = failing(on_error: ->(*) { hook.call })
      response = server.get

      assert_equal [500, PLAIN], [response.status, response.body]
      assert_equal "boom", server.next_report.error.message
    end
  end

  def test_a_response_that_cannot_be_sent_is_reported_as_a_fault_of_on_error
    [[], [200], [200, {}, nil], ["no", {}, []], [500, { "x" => "a\0" }, []]].each do |result|
      server = failing(on_error: ->(*) { result })

      assert_equal PLAIN, server.get.body
      assert_equal "boom", server.next_report.error.message
      assert_reported_for_on_error "send the", Bontebok::Core::InvalidReply, server
    end
  end

  def test_a_response_with_a_body_that_fails_is_reported_as_a_fault_of_on_error
    body = Body.new(->(out) { out.call("part").then { raise IndexError } })
    server = failing(on_error: ->(*) { [500, {}, body] })

    assert_raises(Support::Client::Closed) { server.get }
    assert_equal "boom", server.next_report.error.message
    assert_reported_for_on_error "send the", IndexError, server
    assert_equal 1, body.closed
  end

  # The application keeps the stream, so no garbage collection ends it.
  def test_a_response_with_a_stream_that_fails_is_aborted
    kept = nil
    call = ->(stream) { (kept = stream).write("part") && raise(IndexError) }
    server = failing(on_error: ->(*) { [500, {}, Body.new(call: call)] })

    assert_raises(Support::Client::Closed) { server.get }
    assert_equal "boom", server.next_report.error.message
    assert_reported_for_on_error "send the", IndexError, server
    assert_predicate kept, :closed?
  end

  # The server must still close the body that failed. Therefore on_error may return a text, but no second body.
  def test_only_a_text_is_accepted_if_a_body_must_still_be_closed
    body = Body.new(->(_) { raise "boom" })
    { "text" => "text", [200, {}, ["no"]] => PLAIN }.each do |result, text|
      server = serve(on_error: ->(*) { result }) { [200, {}, body] }

      assert_equal text, server.get.body
      assert_equal "boom", server.next_report.error.message
      server.await_requests(1)
    end
    assert_equal 2, body.closed
  end

  def test_the_body_of_a_response_that_is_not_sent_is_closed
    { ->(out) { out.call("sent") || raise("boom") } => nil, ->(_) { raise "boom" } => nil,
      ->(out) { out.call("whole") } => -> { raise "boom" } }.each do |each, close|
      given = Body.new(->(out) { out.call("page") })
      server = serve(on_error: ->(*) { [500, {}, given] }) { [200, {}, Body.new(each, close: close)] }
      server.connect do |client|
        client.request("GET", "/")
        server.await_requests(1)
      end

      assert_equal "boom", server.next_report.error.message
      assert_equal 1, given.closed
    end
  end

  def test_the_close_of_a_response_that_fails_cannot_write
    refused = Queue.new
    kept = nil
    body = Body.new(->(out) { (kept = out).call("12345").then { raise IndexError } },
                    close: -> { refused << assert_raises(IOError) { kept.call("late!") } })
    server = failing(on_error: ->(*) { [500, { "content-length" => "10" }, body] })

    assert_raises(Support::Client::Closed) { server.get }
    assert_equal "boom", server.next_report.error.message
    assert_reported_for_on_error "send the", IndexError, server
    assert_equal "the response has ended", Timeout.timeout(60) { refused.pop.message }
  end

  def test_a_body_that_is_not_sent_and_cannot_be_closed_is_reported
    given = Body.new(->(_) {}, close: -> { raise IndexError })
    server = serve(on_error: ->(*) { [500, {}, given] }) { [200, {}, Body.new(->(_) { raise "boom" })] }

    assert_equal PLAIN, server.get.body
    assert_equal "boom", server.next_report.error.message
    assert_reported_for_on_error "close the unsent", IndexError, server
  end

  def test_on_error_is_called_for_an_exception_after_the_response
    asked = Queue.new
    body = Body.new(->(out) { out.call("whole") }, close: -> { raise "late" })
    server = serve(on_error: ->(error, _) { asked.push(error.message) && "ignored" }) { [200, {}, body] }

    assert_equal %w[whole late], [server.get.body, asked.pop]
    assert_equal "late", server.next_report.error.message
  end

  private

  def failing(**options)
    serve(**options) { raise "boom" }
  end

  def assert_reported_for_on_error(what, kind, server)
    report = server.next_report

    assert_equal ["GET /: cannot #{what} response of on_error", kind], [report.message, report.error.class]
  end
end
