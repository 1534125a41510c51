# frozen_string_literal: true

require "test_helper"

# Tests clients that send slowly, but within the server's timeouts.
class DripsTest < Support::TestCase
  include Support::OnceMore

  # Seconds between two bytes. BodyTimeout is ten times as long.
  DRIP = 0.05

  # BodyTimeout limits the time without new bytes. It does not limit the time for the whole body.
  def test_a_body_that_arrives_slowly_is_read
    server = start_bontebok(listen: :tcp, args: %w[-w 1 --body-timeout 0.5],
                            rackup: "run ->(env) { [200, {}, [env['rack.input'].read]] }")
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
