# frozen_string_literal: true

require "test_helper"
require_relative "../conform/support/psgi"

# Tests clients that send slowly, but within the server's timeouts.
class DripsTest < Support::TestCase
  include Support::OnceMore

  # Seconds between two bytes. body_timeout is ten times as long.
  DRIP = 0.05

  APPLICATION = "run ->(env) { [200, {}, [env['rack.input'].read]] }"

  # body_timeout limits the time without new bytes. It does not limit the time for the whole body.
  def test_a_body_that_arrives_slowly_is_read
    server = start_bontebok(listen: :tcp, args: %w[-w 1 --body-timeout 0.5], rackup: APPLICATION)
    server.connect do |client|
      client.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n")
      20.times do
        assert client.quiet?(DRIP)
        client.write("x")
      end
      assert_equal "x" * 20, client.read_response.body
    end
  end
end

# The same with the Perl handler.
class PsgiDripsTest < DripsTest
  include Conform::Psgi

  def applications = { APPLICATION => "input" }
end
