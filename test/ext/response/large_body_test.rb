# frozen_string_literal: true

require_relative "../support/lane_case"

# Array bodies with many parts or large parts, and clients that read slowly. The lane waits for such a client.
class LargeBodyTest < Support::LaneCase
  def test_many_parts_are_sent
    [63, 64, 65, 3_000, VALGRIND ? 20_000 : 200_000].each do |count|
      parts = Array.new(count) { |n| "#{n}\n" }

      assert_equal parts.join, serve { [200, {}, parts] }.get.body
    end
  end

  {
    "many_parts" => -> { Array.new(3_000) { |n| n.to_s * 500 } },
    "large_parts" => -> { Array.new(3) { |n| Random.new(n).bytes(3_000_000) } }
  }.each do |name, make|
    define_method(:"test_#{name}_are_sent_to_a_client_that_makes_the_lane_wait") do
      parts = make.call
      server = serve(settings: { response_buffer: 10_000, spool_max: 1 }) do |env|
        [200, {}, env["PATH_INFO"] == "/" ? parts : parts.each]
      end
      %w[/ /each].each do |path|
        server.connect do |client|
          client.request("GET", path)

          assert client.socket.wait_readable(Support::Deadline.new.left)
          assert_equal parts.join, client.read_response.body
        end
      end
    end
  end

  # The I/O thread sends what the socket has not taken.
  def test_a_large_body_arrives_while_its_close_waits
    go_on = Queue.new
    body = ["x" * 20_000_000].each
    body.define_singleton_method(:close) { go_on.pop }
    serve { [200, {}, body] }.connect do |client|
      client.request("GET", "/")

      assert_equal 20_000_000, client.read_response.body.bytesize
    ensure
      go_on << true
    end
  end

  # { change of the body while the lane waits for the client => true if the server still sends the announced length }
  CHANGES = {
    ->(body) { body[0].replace("") } => false, ->(body) { body[0].replace("x" * 29_999_999) } => false,
    :clear.to_proc => false, ->(body) { body[0] = 1 } => false, :pop.to_proc => false,
    ->(body) { body[0] << "x" } => true, ->(body) { body.push("more") } => true
  }.freeze

  # The client gets only bytes of the body, and not more bytes than announced.
  CHANGES.each_with_index do |(change, whole), number|
    define_method(:"test_parts_may_change_while_they_are_sent_#{number}") do
      body = ["x" * 30_000_000, +"x"]
      server = serve(settings: { response_buffer: 10_000, spool_max: 1 }) { [200, { "connection" => "close" }, body] }
      server.connect do |client|
        client.request("GET", "/")
        head = client.read_line until head == "\r\n"
        start = client.read(1_000_000)
        eventually { server.threads.first.stop? }
        change.call(body)
        rest = rest_of(client)

        assert_equal "", (start + rest).delete("x")
        assert_equal whole, start.bytesize + rest.bytesize == 30_000_001
      end
      server.stop # a response that was cut short may be reported after its end
      server.reports
    end
  end

  private

  def rest_of(client)
    client.read_to_end
  rescue Support::Client::Reset => e
    e.partial
  end
end
