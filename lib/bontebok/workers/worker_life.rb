# frozen_string_literal: true

require_relative "../system/clock"
require_relative "../system/process_memory"

module Bontebok
  # What a worker says in the log of its own life. Its end is the master's to tell as well: a worker that is killed says
  # nothing any more.
  class WorkerLife
    # Made when it starts.
    def initialize(log, clock: Clock)
      @log = log
      @clock = clock
      @began = clock.now
    end

    # It has loaded the application and may go on. Before, a start that fails may still be the only thing to say.
    def go
      @log.info("started #{milliseconds} ms ago")
    end

    def ready
      @log.info("ready after #{milliseconds} ms")
    end

    def over(requests)
      @log.info(["ends after #{age.round(1)} s", "#{requests} request#{'s' unless requests == 1}",
                 *ProcessMemory.read&.to_s].join(", "))
    end

    private

    def milliseconds
      (age * 1000).round
    end

    def age
      @clock.now - @began
    end
  end
end
