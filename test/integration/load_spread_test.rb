# frozen_string_literal: true

require "test_helper"

# How work is shared out between workers that are all idle whenever a connection comes.
class LoadSpreadTest < Support::TestCase
  WORKERS = 4
  # A worker has 64 in a row before it is the next one's turn.
  REQUESTS = 64 * WORKERS * 5
  EVEN = REQUESTS / WORKERS

  # On a machine that is busy whose turn it is does not always sleep yet when a connection comes: bench/spread measures
  # how even it is, this tells it from one worker that has nearly all.
  %i[tcp unix].each do |transport|
    define_method("test_all_have_as_much_to_do_over_#{transport}") do
      served = served_by(transport)
      assert_equal WORKERS, served.size
      served.each { |count| assert_includes (EVEN / 8)..(EVEN * 5 / 2), count, served }
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
