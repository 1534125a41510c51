# frozen_string_literal: true

require "test_helper"

# How work is shared out between workers that are all idle whenever a connection comes.
class LoadSpreadTest < Support::TestCase
  include Support::OnceMore

  WORKERS = 4
  REQUESTS = 640 * WORKERS
  EVEN = REQUESTS / WORKERS

  %i[tcp unix].each do |transport|
    define_method("test_all_have_as_much_to_do_over_#{transport}") do
      served = served_by(transport)
      assert_equal WORKERS, served.size
      served.each { |count| assert_in_delta EVEN, count, EVEN / 5, served }
    end
  end

  # The first of those who wait is woken, again and again.
  def test_the_same_do_it_without_spread
    assert_operator served_by(:tcp, "--no-spread").max, :>, EVEN * 1.3
  end

  private

  # Requests of each worker, one after the other, each on a connection of its own.
  def served_by(transport, *args)
    server = start_bontebok(listen: transport, args: ["-w", WORKERS.to_s, "-E", "production", *args],
                            rackup: "run ->(_env) { [200, {}, [Process.pid.to_s]] }")
    server.wait_for_output(/ ready in /)
    Array.new(REQUESTS) { server.get.body }.tally.values
  end
end
