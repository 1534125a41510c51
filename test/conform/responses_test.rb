# frozen_string_literal: true

require "test_helper"

# The responses of an application on the wire: framing (RFC 9112 6), and the fields that the server sets or removes.
class ResponsesTest < Support::TestCase
  # The path selects the response. Most of these responses break Rack's SPEC, or are an Array that the server must see.
  APPLICATION = <<~'RUBY'
    parts = Struct.new(:list) do
      def each(&block) = list.each(&block)
      def close = warn("closed")
    end
    responses = {
      "/array" => -> { [200, { "content-type" => "text/plain" }, %w[one two]] },
      "/empty" => -> { [200, {}, []] },
      "/each" => -> { [200, {}, parts.new(["one", "", "two", ""])] },
      "/nothing" => -> { [200, {}, parts.new([])] },
      "/204" => -> { [204, {}, parts.new([])] },
      "/304" => -> { [304, { "etag" => "\"a\"", "content-length" => "6" }, parts.new(%w[one two])] },
      "/length" => -> { [200, { "content-length" => "6" }, parts.new(%w[one two])] },
      "/short" => -> { [200, { "content-length" => "8" }, parts.new(%w[one two])] },
      "/long" => -> { [200, { "content-length" => "4" }, parts.new(%w[one two])] },
      "/coded" => -> { [200, { "transfer-encoding" => "chunked" }, parts.new(["3\r\none\r\n", "0\r\n\r\n"])] },
      "/close" => -> { [200, { "connection" => "close" }, ["one"]] },
      "/hops" => lambda {
        [200, { "connection" => "x-hop", "keep-alive" => "timeout=5", "upgrade" => "x", "te" => "x",
                "proxy-connection" => "x", "trailer" => "x", "x-kept" => "y" }, ["one"]]
      },
      "/own" => -> { [200, { "date" => "Sun, 06 Nov 1994 08:49:37 GMT", "server" => "mine" }, ["one"]] },
      "/cr" => -> { [200, { "x-bad" => "a\rset-cookie: b" }, ["secret"]] },
      "/nul" => -> { [200, { "x-bad" => "a\0" }, ["secret"]] },
      "/name" => -> { [200, { "x bad" => "a" }, ["secret"]] },
      "/lines" => -> { [200, { "set-cookie" => "a=1\nb=2" }, []] },
      "/many" => -> { [200, {}, Array.new(50_000) { |number| "#{number}\n" }] }
    }
    run ->(env) { responses.fetch(env["PATH_INFO"]).call }
  RUBY

  # The second part exists only after somebody has written to the FIFO.
  GATE = <<~RUBY
    parts = Object.new
    def parts.each
      yield "one"
      File.read("gate")
      yield "two"
    end
    run ->(_env) { [200, {}, parts] }
  RUBY

  # Returns the response, and whether the connection was :kept, :closed or :broken.
  def exchange(path, method: "GET", version: "1.1")
    @server.connect do |client|
      client.write("#{method} #{path} HTTP/#{version}\r\nHost: a\r\n\r\n")
      response = client.read_response(to: method)
      [response, ending(client, response)]
    end
  end

  # Tries one more request, unless the response announces the close. If a body is longer than its Content-Length, the
  # server cuts the body and closes the connection. The head does not announce this close, because the head is sent
  # before the body.
  def ending(client, response)
    return client.wait_for_end == :eof ? :closed : :broken if !response.keep_alive? || response.framing == :close

    client.get("/array").body == "onetwo" ? :kept : :broken
  rescue Support::Client::Closed
    :closed
  end

  # Returns the status, the framing, the body, and the state of the connection.
  def summary(path, **options)
    response, connection = exchange(path, **options)
    [response.status, response.framing, response.body, connection]
  end

  def start(*arguments)
    @server = start_bontebok(args: ["-w", "1", "-E", "production", *arguments], rackup: APPLICATION, lint: false)
  end

  def test_each_body_has_its_framing
    start
    assert_equal [200, :length, "onetwo", :kept], summary("/array")
    assert_equal [200, :length, "", :kept], summary("/empty")
    assert_equal [200, :chunked, "onetwo", :kept], summary("/each")
    assert_equal [200, :chunked, "", :kept], summary("/nothing")
    assert_equal [200, :length, "onetwo", :kept], summary("/length")
    assert_equal [200, :chunked, "one", :kept], summary("/coded")
    assert_equal [200, :length, "one", :closed], summary("/close")
  end

  def test_each_body_has_its_framing_in_http10
    start
    assert_equal [200, :length, "onetwo", :closed], summary("/array", version: "1.0")
    assert_equal [200, :close, "onetwo", :closed], summary("/each", version: "1.0")
    assert_equal [200, :close, "one", :closed], summary("/coded", version: "1.0")
  end

  def test_the_server_closes_the_connection_after_a_body_if_chunks_are_off
    start("--no-chunked-transfer")
    assert_equal [200, :close, "onetwo", :closed], summary("/each")
    assert_equal [200, :length, "onetwo", :kept], summary("/array")
  end

  def test_responses_to_head_and_responses_with_204_or_304_have_no_body
    start
    assert_equal [204, :none, "", :kept], summary("/204")
    assert_equal [304, :none, "", :kept], summary("/304")
    %w[/array /each /length /304 /many].each do |path|
      assert_equal [:none, "", :kept], summary(path, method: "HEAD").drop(1), path
    end
    assert_equal "6", exchange("/304").first["Content-Length"]
    assert_equal "6", exchange("/length", method: "HEAD").first["Content-Length"]
    assert_nil exchange("/204").first["Content-Length"]
  end

  def test_a_body_shorter_than_its_content_length_aborts_the_connection
    start
    error = assert_raises(Support::Client::Closed) { summary("/short") }
    assert_equal "onetwo", error.partial
    assert_equal "onetwo", @server.get("/array").body
  end

  def test_a_body_longer_than_its_content_length_is_cut
    start
    assert_equal [200, :length, "onet", :closed], summary("/long")
  end

  def test_the_server_sets_date_and_server_and_removes_hop_by_hop_fields
    start("--server", "Antelope/1")
    plain = exchange("/array").first
    assert_match(/\A\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\z/, plain["Date"])
    assert_equal "Antelope/1", plain["Server"]
    own = exchange("/own").first
    assert_equal ["Sun, 06 Nov 1994 08:49:37 GMT", "mine"], [own["Date"], own["Server"]]
    hops = exchange("/hops").first
    %w[Connection Keep-Alive Upgrade TE Proxy-Connection].each { |name| assert_nil hops[name], name }
    assert_equal %w[x y], [hops["trailer"], hops["x-kept"]]
    assert_equal %w[a=1 b=2], exchange("/lines").first.all("Set-Cookie")
  end

  # The server never sends a field that would split the response (CVE-2020-5247 and similar faults).
  def test_a_field_that_would_split_the_response_is_an_error
    start
    faults = { "/cr" => '"x-bad" has an invalid value', "/nul" => '"x-bad" has an invalid value',
               "/name" => '"x bad" has an invalid name' }
    faults.each do |path, fault|
      response, = exchange(path)
      assert_equal 500, response.status, path
      refute_match(/secret|set-cookie/i, response.to_h.inspect)
      @server.wait_for_output(/ GET #{path}: #{fault_line(fault)}$/)
    end
  end

  def fault_line(fault) = /the field #{fault} \(Bontebok::Core::InvalidReply\)/

  def test_many_parts_are_sent
    start
    response, connection = exchange("/many")
    assert_equal [Array.new(50_000) { |number| "#{number}\n" }.join, :kept], [response.body, connection]
  end

  def test_each_body_is_closed_once
    start
    paths = %w[/each /nothing /204 /304 /length /long /coded]
    paths.each { |path| exchange(path) }
    exchange("/each", method: "HEAD")
    @server.wait_for_output(/(closed\n.*?){#{paths.size + 1}}/m)
    assert_equal paths.size + 1, @server.output.text.scan("closed\n").size
  end

  def test_each_part_is_sent_before_the_next_part_exists
    server = start_bontebok(args: ["-w", "1"], rackup: GATE)
    gate = File.join(temp_dir, "gate")
    File.mkfifo(gate)
    server.connect do |client|
      client.request("GET", "/")
      nil until client.read_line == "\r\n"
      assert_equal "3\r\none\r\n", client.read(8)
      assert client.quiet?(0.02)
      File.write(gate, "")
      assert_equal "3\r\ntwo\r\n0\r\n\r\n", client.read(13)
    end
  end
end
