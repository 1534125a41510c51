# frozen_string_literal: true

require "test_helper"

# The first example of docs/STREAMS.md.
class StreamsDocsTest < Support::TestCase
  DOCUMENT = File.expand_path("../../../docs/STREAMS.md", __dir__)

  # The worker is forked after the file is loaded.
  def test_a_client_gets_events_after_another_has_left
    temp_file("config.ru", File.read(DOCUMENT)[/^```ruby\n(# config.ru.*?)^```/m, 1])
    server = start_bontebok(args: %w[-w 1 -t 1 -E production])
    subscribe(server) do |client|
      subscribe(server) { |other| next_event(other) }
      events = Array.new(3) { next_event(client) }
      assert_equal events.uniq, events
    end
  end

  private

  def subscribe(server)
    server.connect do |client|
      client.request("GET", "/")
      yield client
    end
  end

  def next_event(client)
    line = client.read_line until line&.start_with?("data: ")
    line
  end
end
