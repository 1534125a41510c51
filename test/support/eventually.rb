# frozen_string_literal: true

module Support
  # Polls for a state that no event reports. For example, a process is gone, or a file exists. If there is an event (a
  # log line, a byte, an exit), a test waits for the event instead.
  module Eventually
    # Seconds between two calls of the block: the first interval, and the longest interval. The intervals grow.
    INTERVALS = [0.002, 0.02].freeze

    # Calls the block until the result is true, and returns the result. Raises Timeout after the limit. The text of this
    # error contains `message` and the result of `seen`.
    def eventually(message = "the expected state", limit: Deadline::DEFAULT_SECONDS, seen: nil)
      deadline = Deadline.for(limit)
      interval, longest = INTERVALS
      loop do
        result = yield
        return result if result
        raise Timeout, ["waited in vain for #{message}", *seen&.call].join("\n") if deadline.passed?

        sleep(interval)
        interval = [interval * 1.5, longest].min
      end
    end

    module_function :eventually
  end
end
