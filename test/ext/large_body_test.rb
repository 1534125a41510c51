# frozen_string_literal: true

require_relative "support/lane_case"

# Array bodies of any number of parts and any size, and clients that make the lane wait.
class LargeBodyTest < Support::LaneCase
  def test_many_parts
    [63, 64, 65, 3_000, 200_000].each do |count|
      parts = Array.new(count) { |n| "#{n}\n" }

      assert_equal parts.join, serve { [200, {}, parts] }.get.body
    end
  end

  def test_many_parts_and_a_client_that_waits
    parts = Array.new(3_000) { |n| n.to_s * 500 }
    server = serve(settings: { response_buffer: 10_000 }) do |env|
      [200, {}, env["PATH_INFO"] == "/" ? parts : parts.each]
    end
    %w[/ /each].each do |path|
      server.connect do |client|
        client.request("GET", path)

        assert client.socket.wait_readable(10)
        assert_equal parts.join, client.read_response.body
      end
    end
  end

  # A part of 30 MB that grows, shrinks or goes while the client makes the lane wait: the answer may be cut, never the
  # server.
  def test_parts_that_change_while_they_are_sent
    big = nil
    server = serve(settings: { response_buffer: 10_000 }) { [200, {}, big] }
    [->(body) { body[0].replace("") }, :clear.to_proc, ->(body) { body[0] = 1 },
     ->(body) { body[0] << "more" }].each do |change|
      big = ["x" * 30_000_000, +"y"]
      server.connect do |client|
        client.request("GET", "/")
        client.read(1_000_000)
        change.call(big)
        big = nil
        GC.start
        rest_of(client)
      end
    end
    server.reports
    big = ["ok"]

    assert_equal "ok", server.get.body
  end

  private

  def rest_of(client)
    client.wait_for_end(0.5)
  rescue Support::Timeout
    :open
  end
end
