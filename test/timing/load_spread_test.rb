# frozen_string_literal: true

require "test_helper"

# Tests how many requests each worker gets if all workers are idle whenever a connection comes.
class LoadSpreadTest < Support::TestCase
  include Support::OnceMore

  WORKERS = 4
  REQUESTS = 640 * WORKERS
  EVEN = REQUESTS / WORKERS

  %i[tcp unix].each do |transport|
    define_method("test_each_worker_serves_an_even_share_over_#{transport}") do
      served = served_by(transport)
      assert_equal WORKERS, served.size
      served.each { |count| assert_in_delta EVEN, count, EVEN / 5, served }
    end
  end

  private

  # Sends requests one after the other, each on a new connection. Returns the number of requests of each worker.
  def served_by(transport)
    server = start_bontebok(listen: transport, args: ["-w", WORKERS.to_s, "-E", "production"],
                            rackup: "run ->(_env) { [200, {}, [Process.pid.to_s]] }")
    server.wait_for_output(/ ready in /)
    Array.new(REQUESTS) { server.get.body }.tally.values
  end
end
