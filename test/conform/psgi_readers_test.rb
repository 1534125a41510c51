# frozen_string_literal: true

require "test_helper"
require_relative "support/psgi"

# Clients of the Perl handler that read large responses late, or never. The responses are larger than spool_max and the
# buffers of the socket, so the server waits for the client in the middle of the body.
class PsgiReadersTest < Support::TestCase
  include Conform::Psgi

  NUMBERS = Array.new(524_288) { |number| format("%07d\n", number) }.join
  KINDS = %w[/array /lines /writer /file].freeze

  def applications = { nil => "numbers" }

  def start(*arguments)
    @server = start_bontebok(rackup: nil, args: %w[--spool-max 1M --spool-threshold 64K] + arguments)
  end

  def request(client, path)
    client.request("GET", path)
    @server.wait_for_output(/begun #{path}/)
    eventually("the server to wait for the client") { Support::ProcessTable.asleep?(@server.pid) }
  end

  def test_every_byte_arrives_after_the_server_has_waited
    start
    KINDS.each do |path|
      @server.connect do |client|
        request(client, path)
        assert client.read_response.body == NUMBERS, "other bytes of #{path}"
      end
    end
    refute_match(/error|warn/, @server.output.text)
  end

  # The thread of the core sends files, so no request waits for their clients.
  def test_a_client_that_reads_nothing_is_given_up_after_the_write_timeout
    start("--write-timeout", "0.5")
    (KINDS - %w[/file]).each do |path|
      @server.connect do |client|
        request(client, path)
        @server.wait_for_output(/ended #{path}/)
        assert_raises(Support::Client::Closed) { client.read_response }
      end
    end
    assert_equal "small", @server.get("/small").body
    assert_equal 1, @server.output.text.scan("closed\n").size
    refute_match(/error|warn/, @server.output.text)
  end
end
