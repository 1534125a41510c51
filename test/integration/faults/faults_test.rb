# frozen_string_literal: true

require "test_helper"
require_relative "../../conform/support/psgi"
require_relative "../support/worker_watch"

# Uploads that break off at every stage. The client closes or resets the connection, or shuts down its writing side.
# Some bodies have a known length, and some bodies come in chunks. The test waits until the worker has read all bytes of
# a stage, because a reset discards unread bytes.
class FaultsTest < Support::TestCase
  include WorkerWatch

  # /calls returns how many POST requests the application got.
  APPLICATION = <<~RUBY
    calls = 0
    run(lambda do |env|
      next [200, {}, [calls.to_s]] if env["PATH_INFO"] == "/calls"

      calls += 1 if env["REQUEST_METHOD"] == "POST"
      [200, {}, [env["rack.input"].read.bytesize.to_s]]
    end)
  RUBY
  HEAD = "POST / HTTP/1.1\r\nHost: a\r\n"
  LENGTH = "#{HEAD}Content-Length: 900000\r\n\r\n".freeze
  CHUNKED = "#{HEAD}Transfer-Encoding: chunked\r\n\r\n".freeze
  # Longer than spool_threshold, so the worker has opened a file.
  SPOOLED = "x" * 600_000
  STAGES = {
    "connected" => "",
    "in the method" => "PO",
    "in the target" => "POST /abc",
    "after the request line" => "POST / HTTP/1.1\r\n",
    "in a field" => "#{HEAD}Content-Le",
    "before the empty line" => HEAD,
    "after the head" => LENGTH,
    "in the body" => "#{LENGTH}abc",
    "in a spooled body" => LENGTH + SPOOLED,
    "asked to go on" => "#{HEAD}Expect: 100-continue\r\nContent-Length: 900000\r\n\r\n",
    "before the first chunk" => CHUNKED,
    "in a size" => "#{CHUNKED}1",
    "after a size" => "#{CHUNKED}1000\r\n",
    "in an extension" => "#{CHUNKED}1000;a",
    "in a chunk" => "#{CHUNKED}1000\r\nabc",
    "in a spooled chunk" => "#{CHUNKED}c0000\r\n#{SPOOLED}",
    "after a chunk's bytes" => "#{CHUNKED}3\r\nabc",
    "after a chunk" => "#{CHUNKED}3\r\nabc\r\n",
    "in the last size" => "#{CHUNKED}3\r\nabc\r\n0",
    "after the last size" => "#{CHUNKED}3\r\nabc\r\n0\r\n",
    "in a trailer" => "#{CHUNKED}3\r\nabc\r\n0\r\nA: b",
    "before the end" => "#{CHUNKED}3\r\nabc\r\n0\r\nA: b\r\n\r"
  }.freeze
  ENDINGS = %i[close reset half_close].freeze

  # Returns a client that has sent these bytes. The worker has read all of them.
  def reach(bytes)
    client = Support::Client.new(@server.address)
    client.write(bytes)
    eventually("the worker to read all of #{bytes[0, 100].inspect}") { read_by_worker?(client) }
    assert_equal 200, @server.get.status if bytes.empty? # the server accepts this client's connection first
    client
  end

  # On a unix socket, a byte stays in the client's send queue until the worker reads it. Over TCP, a byte leaves the
  # send queue when it arrives, so the worker's receive queue must be empty, too.
  def read_by_worker?(client)
    return false unless client.unread_by_server.zero?

    @server.address.unix? || receive_queue_of_worker(client)&.zero?
  end

  # Reads /proc/net/tcp. The columns are: number, local address, remote address, state, tx_queue:rx_queue (hexadecimal).
  # Returns nil if the row is missing. A row can be missing, because the kernel returns the table in pieces, and may
  # skip a row when other connections end.
  def receive_queue_of_worker(client)
    ports = [client.socket.remote_address.ip_port, client.socket.local_address.ip_port]
    row = format('\h:%04X \h+:%04X \h+ \h+:(\h+)', *ports)
    File.read("/proc/net/tcp")[Regexp.new(row), 1]&.hex
  end

  # A client of a unix socket cannot reset its connection, so #reset only closes the connection.
  def break_off(client, ending)
    return client.public_send(ending) unless ending == :half_close

    client.finish_writing
    client.wait_for_end
    client.close
  end

  # spool_max is less than the sum of all bodies. The last upload succeeds only if the worker has freed the room of the
  # other bodies.
  %i[tcp unix].each do |transport|
    define_method("test_an_upload_that_breaks_off_at_any_stage_does_no_harm_over_#{transport}") do
      start_watched(listen: transport, args: %w[--spool-threshold 64K --spool-max 2M], rackup: APPLICATION)
      STAGES.each_value do |bytes|
        ENDINGS.each do |ending|
          break_off(reach(bytes), ending)
        end
      end
      assert_unharmed
      assert_equal "0", @server.get("/calls").body
      assert_equal "1500000", @server.request("POST", "/", {}, "x" * 1_500_000).body
    end
  end

  # The clients of all stages are connected at the same time.
  def test_many_uploads_that_break_off_at_the_same_time_do_no_harm
    start_watched(listen: :tcp, args: %w[--spool-threshold 64K --spool-max 16M], rackup: APPLICATION)
    ENDINGS.each do |ending|
      clients = STAGES.values.map { |bytes| reach(bytes) }
      assert_equal 200, @server.get.status
      clients.each { |client| break_off(client, ending) }
      assert_unharmed
    end
    assert_equal "0", @server.get("/calls").body
  end

  def test_a_client_that_does_not_wait_for_the_response_does_no_harm
    start_watched(listen: :tcp, args: %w[--spool-threshold 64K], rackup: APPLICATION)
    %i[close reset].each do |ending|
      ["#{HEAD}Content-Length: 3\r\n\r\nabc", "#{HEAD}Content-Length: 600000\r\n\r\n#{SPOOLED}",
       "#{CHUNKED}3\r\nabc\r\n0\r\n\r\n"].each do |bytes|
        10.times do
          client = Support::Client.new(@server.address)
          client.write(bytes)
          client.public_send(ending)
        end
      end
      assert_unharmed
    end
  end

  # One upload continues on its own connection while other uploads break off.
  def test_a_good_upload_is_not_disturbed
    start_watched(listen: :tcp, args: %w[--spool-threshold 64K], rackup: APPLICATION)
    @server.connect do |good|
      good.write(LENGTH)
      STAGES.each_value do |bytes|
        good.write("x" * 1000)
        reach(bytes).reset
      end
      good.write("x" * (900_000 - (STAGES.size * 1000)))
      assert_equal "900000", good.read_response.body
    end
    assert_unharmed
  end
end

# The same with the Perl handler, whose only process serves.
class PsgiFaultsTest < FaultsTest
  include Conform::Psgi

  def applications = { APPLICATION => "uploads" }

  def workers(server) = [server.pid]
end
