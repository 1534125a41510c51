# frozen_string_literal: true

require "digest"
require "test_helper"
require_relative "support/test_case"

# Runs nginx and HAProxy in front of a server with unbuffered_bodies.
class UnbufferedBodiesTest < Interop::TestCase
  # These sites of nginx wait until nginx has the whole body.
  BUFFERED = Interop::Nginx::SITES.keys.grep_v(/unbuffered/).freeze
  MIB = 1 << 20

  # /refused responds without a read. Other paths say when they have the first byte, and respond with the body's digest.
  RACKUP = <<~RUBY
    require "digest"

    use Rack::Lint
    run(lambda do |env|
      next [403, { "content-type" => "text/plain" }, ["refused"]] if env["PATH_INFO"] == "/refused"

      body = env["rack.input"].read(1)
      $stderr.puts "\#{env['PATH_INFO']} has begun"
      body << env["rack.input"].read
      [200, { "content-type" => "text/plain" }, [Digest::SHA256.hexdigest(body)]]
    rescue Bontebok::ClientGone
      $stderr.puts "\#{env['PATH_INFO']} has ended early"
      raise
    end)
  RUBY

  def setup
    arguments = ["-w", "1", "-E", "production", "--unbuffered-bodies", "/"]
    start_site(args: arguments, rackup: RACKUP, proxies: [Interop::Nginx, Interop::Haproxy])
  end

  def test_the_application_reads_the_first_byte_before_the_client_sends_the_last
    at_each_unbuffered_entrance do |client, path|
      bytes = Random.new(1).bytes(MIB)
      client.write(head(path, bytes.bytesize))
      client.write(bytes.byteslice(0, 1000))
      @server.wait_for_output(/#{path} has begun/)
      client.write(bytes.byteslice(1000..))

      assert_equal Digest::SHA256.hexdigest(bytes), client.read_response.body
    end
  end

  def test_a_body_in_chunks_is_read_at_each_entrance
    parts = Array.new(30) { |number| Random.new(number).bytes(1 + (number * 4000)) }
    at_each_entrance do |browser|
      2.times do
        assert_equal Digest::SHA256.hexdigest(parts.join), browser.post_chunked("/chunks", parts).body
      end
    end
  end

  def test_the_application_learns_that_the_client_has_broken_off
    at_each_unbuffered_entrance do |client, path|
      client.write("#{head(path, MIB)}the first part")
      @server.wait_for_output(/#{path} has begun/)
      client.close
      assert @server.wait_for_output(/#{path} has ended early/)
    end
  end

  # The server reads the rest of the body and drops it, so that the proxy gets the response. nginx closes its client's
  # connection afterwards, although its response says keep-alive.
  def test_a_response_without_a_read_reaches_the_client
    at_each_entrance do |browser, name|
      2.times do
        response = browser.request("PUT", "/refused", {}, "x" * MIB)
        assert_equal [403, "refused"], [response.status, response.body]
        browser.close if name.start_with?("nginx")
      end
    end
  end

  private

  # Calls the block with a connection and a path, both new, for each entrance that passes on parts of a body.
  def at_each_unbuffered_entrance
    @entrances.except(*BUFFERED).each_with_index do |(name, address), number|
      client = Support::Client.open(address)
      name_in_failures(name) { yield client, "/#{number}" }
    ensure
      client&.close
    end
  end

  def head(path, length)
    "PUT #{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: #{length}\r\n\r\n"
  end
end
