# frozen_string_literal: true

module Support
  # For states that announce themselves by no event: a process that must be gone, a file that must appear. Whatever
  # can be waited for (a log line, a byte, an exit) is waited for instead.
  module Eventually
    # Seconds between two looks: at first, and the longer it takes, up to this.
    INTERVALS = [0.002, 0.02].freeze

    # Calls the block until it returns something true, and returns that. Raises Timeout with the message and with what
    # seen, if given, returns then.
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
