# frozen_string_literal: true

require_relative "../system/clock"
require_relative "../system/process_memory"

module Bontebok
  # The log lines of a worker about its start and end. The master also logs the end, because a killed worker cannot.
  class WorkerLife
    # Made when the worker starts.
    def initialize(log, clock: Clock)
      @log = log
      @clock = clock
      @began = clock.now
    end

    # Called when the worker has loaded the application and may serve. The worker logs nothing before this line, so a
    # failed start logs only the failure.
    def go
      @log.info("started #{milliseconds} ms ago")
    end

    def ready
      @log.info("ready after #{milliseconds} ms")
      @log.dismiss_witness
    end

    def over(requests)
      @log.info(["ends after #{age.round(1)} s", "#{requests} request#{'s' unless requests == 1}",
                 *ProcessMemory.read&.to_s].join(", "))
    end

    private

    def milliseconds = (age * 1000).round

    def age = @clock.now - @began
  end
end
