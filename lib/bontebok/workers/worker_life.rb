# frozen_string_literal: true

require_relative "../system/clock"
require_relative "../system/process_memory"

module Bontebok
  # What a worker logs about its own life. The master logs the worker's end, too: a worker that is killed logs nothing.
  class WorkerLife
    # Made when the worker starts.
    def initialize(log, clock: Clock)
      @log = log
      @clock = clock
      @began = clock.now
    end

    # The worker has loaded the application and may serve. It has logged nothing before, so a start that fails logs only
    # its failure.
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
