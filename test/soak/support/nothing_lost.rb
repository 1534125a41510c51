# frozen_string_literal: true

require "json"

# Used by tests whose load generators may lose no request.
module NothingLost
  # The fates of a lost request, as the load tool counts them.
  LOST = %w[refused reset short timeout status local].to_h { |fate| [fate, 0] }.freeze

  private

  # Waits for the end of the load generator. Returns its result. message: as for assert_equal.
  def assert_nothing_lost(load, message = nil)
    load.wait
    load.output.wait_for_end
    result = JSON.parse(load.output.text(:stdout))
    assert_equal LOST, result["errors"], message
    result
  end
end
