# frozen_string_literal: true

require "test_helper"
require_relative "../interop/support/handover_case"
require_relative "support/nothing_lost"

# The program start_server owns the listeners. At HUP it starts a new server. One second later, it tells the former
# server to stop, even if the new server is not ready. No client may notice this: the former server serves until the new
# one is ready. Four load generators send 100,000 requests: over TCP and over a unix socket, with kept connections and
# with a new connection for each request.
class StartServerSoakTest < Interop::HandoverCase
  include Support::OnceMore
  include NothingLost

  LOADING = 3 # seconds that the application takes to load
  LONGEST = 1 # seconds; a request that waits for the new server takes longer
  # Requests, and requests per second, of each of the four load generators.
  REQUESTS = 25_000
  RATE = 1_250

  def test_no_request_is_lost_while_servers_are_replaced
    path = File.join(temp_dir, "app.sock")
    starter = start_server("--port", "127.0.0.1:0", "--path", path, rackup: "sleep #{LOADING}\n#{WHERE}")
    starter.wait_for_output(/ ready in \d+ ms$/)
    port = addresses(starter).first[/\d+\z/]
    loads = [load_of("http://127.0.0.1:#{port}/", "--close"), load_of("unix:#{path}:/", "--close"),
             load_of("http://127.0.0.1:#{port}/"), load_of("unix:#{path}:/")]
    generations = 1
    generations = next_generation(starter, generations) while loads.any?(&:running?)
    loads.each { |load| assert_served(load, starter) }
    assert_operator generations, :>=, 4
    assert_path_exists path
  end

  private

  def load_of(url, *options)
    start_process(*SERVER, "bench", "--json", "-c", "8", "--rate", RATE.to_s, "-n", REQUESTS.to_s, *options,
                  url)
  end

  def assert_served(load, starter)
    result = assert_nothing_lost(load, -> { starter.output.text })
    assert_equal REQUESTS, result["ok"]
    assert_operator result["latency_us"]["max"], :<, LONGEST * 1_000_000
  end
end
