# frozen_string_literal: true

require "test_helper"

# Clients that are slow, and clients that send nothing. The timeouts are short. All tests allow a timeout to come late.
# Some tests also check that a timeout does not come early.
class TimeoutsTest < Support::TestCase
  APPLICATION = "run ->(env) { [200, {}, [env['rack.input'].read]] }"
  # Seconds between two bytes of #drip. DRIP is much shorter than the header timeout. If each byte extended the timeout,
  # no timeout would come, and the test would fail.
  DRIP = 0.05

  def start(*arguments)
    @server = start_bontebok(listen: :tcp, args: ["-w", "1", *arguments], rackup: APPLICATION)
  end

  # Sends the bytes one by one until a response comes. Returns the response.
  def drip(client, bytes)
    bytes.each_char do |byte|
      client.write(byte)
      return client.read_response unless client.quiet?(DRIP)
    end
    flunk("no response while #{bytes.bytesize} bytes dripped")
  end

  def assert_timed_out(response, client)
    assert_equal [408, false], [response.status, response.keep_alive?]
    assert_equal "", client.read_to_end
  end

  def test_the_bytes_of_a_slow_head_do_not_extend_the_header_timeout
    start("--header-timeout", "0.5")
    @server.connect do |client|
      took = Support::Deadline.seconds do
        assert_timed_out(drip(client, "GET /#{'a' * 200} HTTP/1.1\r\nHost: a\r\n\r\n"), client)
      end
      assert_operator took, :>=, 0.4
    end
    assert_equal 200, @server.get.status
  end

  def test_a_head_that_stops_times_out
    start("--header-timeout", "0.2")
    ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n"].each do |bytes|
      @server.connect do |client|
        client.write(bytes)
        assert_timed_out(client.read_response, client)
      end
    end
  end

  # The header timeout of a second request begins with the first byte of the second request.
  def test_a_head_that_stops_on_a_kept_connection_times_out
    start("--header-timeout", "0.2")
    @server.connect do |client|
      client.request("GET", "/")
      assert_equal 200, client.read_response.status
      client.write("GET /")
      assert_timed_out(client.read_response, client)
    end
  end

  def test_a_client_that_sends_nothing_gets_no_response
    start("--header-timeout", "0.2", "--keepalive-timeout", "0.2")
    @server.connect { |client| assert_equal "", client.read_to_end }
    @server.connect do |client|
      client.request("GET", "/")
      assert_equal 200, client.read_response.status
      assert_equal "", client.read_to_end
    end
  end

  def test_an_idle_connection_stays_open_until_the_keepalive_timeout
    start("--keepalive-timeout", "30", "--header-timeout", "0.2")
    @server.connect do |client|
      2.times do
        client.request("GET", "/")
        assert_equal 200, client.read_response.status
        assert client.quiet?(0.4), "closed too early"
      end
    end
  end

  def test_a_body_that_stops_times_out
    start("--body-timeout", "0.3")
    ["Content-Length: 10\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\na\r\n12345"].each do |rest|
      @server.connect do |client|
        client.write("POST / HTTP/1.1\r\nHost: a\r\n#{rest}")
        assert_timed_out(client.read_response, client)
      end
    end
  end

  # A thread closes only its own connections. A system that allows only one process has three threads by default.
  def test_a_new_connection_above_max_connections_replaces_the_longest_idle_connection
    start("--max-connections", "5", "-t", "1")
    idle = Array.new(5) do
      Support::Client.open(@server.address).tap(&:get)
    end
    new_one = Support::Client.new(@server.address)
    [new_one, idle.last].each { |client| client.request("GET", "/") }
    assert_equal 200, new_one.read_response.status
    assert_equal "", idle.first.read_to_end
    assert_equal 200, idle.last.read_response.status
  ensure
    [*idle, *new_one].each(&:close)
  end
end
