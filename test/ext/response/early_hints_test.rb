# frozen_string_literal: true

require_relative "../support/lane_case"

# rack.early_hints: interim responses that the application sends before its response.
class EarlyHintsTest < Support::LaneCase
  def test_early_hints
    server = serve do |env|
      env["rack.early_hints"].call("link" => "</a>; rel=preload\n</b>; rel=preload")
      env["rack.early_hints"].call("link" => ["</c>; rel=preload"])
      OK
    end
    server.connect do |client|
      client.request("GET", "/")
      heads = Array.new(3) { head_of(client) }

      assert_equal ["HTTP/1.1 103 Early Hints", "link: </a>; rel=preload", "link: </b>; rel=preload"], heads[0]
      assert_equal ["HTTP/1.1 103 Early Hints", "link: </c>; rel=preload"], heads[1]
      assert_equal "HTTP/1.1 200 OK", heads[2].first
      assert_equal "ok", client.read(2)
    end
    server.connect do |client| # HTTP/1.0 knows no interim response
      client.write("GET / HTTP/1.0\r\n\r\n")

      assert_equal 200, client.read_response.status
    end
  end

  # A client learns nothing from a field without a value, or from a 103 without fields.
  def test_empty_hints_are_not_sent
    empty = [nil, {}, *[nil, "", [], ["", nil], "\n"].map { |value| { "link" => value } }]
    server = serve do |env|
      empty.each { |headers| env["rack.early_hints"].call(headers) }
      env["rack.early_hints"].call("x-a" => "", "link" => ["", "</a>: \n\n</b>", nil], "x-b" => nil)
      OK
    end
    server.connect do |client|
      client.request("GET", "/")

      assert_equal ["HTTP/1.1 103 Early Hints", "link: </a>: ", "link: </b>"], head_of(client)
      assert_equal "HTTP/1.1 200 OK", head_of(client).first
    end
  end

  # A field of early hints sends other hints, or takes the connection. The server sends only whole heads.
  def test_early_hints_in_a_field_of_early_hints
    server = serve do |env|
      env["rack.early_hints"].call("link" => field { env["rack.early_hints"].call("link" => "</inner>") })
    end
    server.connect do |client|
      client.request("GET", "/")

      assert_equal ["HTTP/1.1 103 Early Hints", "link: </inner>"], head_of(client)
      assert_equal 500, client.read_response.status
    end
    assert_match(/another interim response/, server.next_report.error.message)
  end

  def test_a_hijack_in_a_field_of_early_hints
    server = serve do |env|
      next OK if env["PATH_INFO"] == "/next"

      env["rack.early_hints"].call("link" => field { env["rack.hijack"].call.tap { |io| io.write("mine") }.close })
    end
    server.connect do |client|
      client.request("GET", "/")

      assert_equal "mine", client.read_to_end
    end
    assert_equal :detached, server.next_report.level
    assert_equal 200, server.get("/next").status
  end

  # The head of the response is made, but not sent, when the body is asked for its path and for its first part.
  def test_early_hints_of_a_body_are_ignored
    server = serve do |env|
      body = Object.new
      %i[to_path each].each do |name|
        body.define_singleton_method(name) do |&block|
          env["rack.early_hints"].call("link" => "</a>; rel=preload")
          block&.call("part")
          nil
        end
      end
      [200, { "x-own" => "1" }, body]
    end
    response = server.get

    assert_equal [200, "1", "part"], [response.status, response["X-Own"], response.body]
  end

  private

  # A value of a field that calls the block when it is sent.
  def field(&block)
    Object.new.tap { |value| value.define_singleton_method(:to_s) { block.call || "outer" } }
  end

  def head_of(client)
    lines = []
    until (line = client.read_line) == "\r\n"
      lines << line.chomp
    end
    lines
  end
end
