# frozen_string_literal: true

module Support
  # Polls for a state without an event: a process that must be gone, a file that must appear. A test waits for an event
  # instead if there is one: a log line, a byte, an exit.
  module Eventually
    # Seconds between two looks: the first interval, and the longest one. The interval grows from look to look.
    INTERVALS = [0.002, 0.02].freeze

    # Calls the block until it returns something true, and returns that. Raises Timeout after the limit. The text of
    # Timeout has the message and, if `seen` is given, its result.
    def eventually(limit = Deadline::DEFAULT_SECONDS, message = "the expected state", seen: nil)
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
