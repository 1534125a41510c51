# frozen_string_literal: true

require "test_helper"
require_relative "../../conform/support/psgi"

# Clients that send request bodies slowly, but within the timeouts. There are more such clients than the worker can have
# connections.
class FaultsSendersTest < Support::TestCase
  APPLICATION = <<~RUBY
    run ->(env) { [200, {}, [env["rack.input"] ? env["rack.input"].read.bytesize.to_s : "0"]] }
  RUBY
  HEAD = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
  DESCRIPTORS = 128
  CROWD = 200
  # Seconds. The server must respond within 1 s. The test allows more time for a busy machine.
  PROMPT = 3

  def test_new_clients_are_served_while_slow_clients_use_all_descriptors
    server = start_bontebok(listen: :tcp, args: %w[-w 1 -E production], rackup: APPLICATION,
                            under: ["prlimit", "--nofile=#{DESCRIPTORS}"])
    assert_served_beside(server)
    assert_match(/no room for more connections/, server.output.text)
  end

  def test_new_clients_are_served_while_slow_clients_use_all_of_max_connections
    server = start_bontebok(listen: :tcp, args: %w[-w 1 -E production --max-connections 20], rackup: APPLICATION)
    assert_served_beside(server)
  end

  private

  def assert_served_beside(server)
    crowd = Array.new(CROWD) { Support::Client.new(server.address).tap { |client| client.write(HEAD) } }
    5.times do
      crowd.each { |client| drip(client) }
      server.connect do |client|
        client.request("GET", "/")
        assert_equal 200, client.read_response(PROMPT).status
      end
    end
  ensure
    crowd&.each(&:close)
  end

  # The server may have closed this connection to make room.
  def drip(client)
    client.write("x" * 600)
  rescue Support::Client::Closed
    nil
  end
end

# The same with the Perl handler.
class PsgiFaultsSendersTest < FaultsSendersTest
  include Conform::Psgi

  def applications = { APPLICATION => "uploads" }
end
