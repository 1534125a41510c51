# frozen_string_literal: true

require_relative "../system/clock"
require_relative "../system/process_memory"

module Bontebok
  # Whether a worker has served long enough: by MaxWorkerAge and MaxWorkerMemory. Its main thread asks, from time to
  # time and beside the requests. Their number is the lanes' matter.
  class Recycling
    # Seconds between two looks at the memory. A worker that needs more than it may from the start is not replaced more
    # often than that.
    PERIOD = 10
    # No worker becomes older than it may; each may this part of it at least.
    LEAST = 0.75

    # Made when the worker begins to serve. memory, clock: what stands for ours in tests.
    def initialize(config, log:, memory: ProcessMemory, clock: Clock)
      @most = config[:max_worker_memory]
      @memory = memory
      @clock = clock
      @log = log
      age = config.seconds(:max_worker_age)
      @end = @clock.now + (age * rand(LEAST..1.0)) if age.positive?
      watch_memory if @most.positive?
    end

    # Seconds until #reason may have an answer; nil: it will not.
    def wait
      earliest = [@end, @look].compact.min
      [earliest - @clock.now, 0].max if earliest
    end

    # Why the worker is to be replaced, as the log says it; nil: it is not, so far. Told once.
    def reason
      reason = too_old || too_large
      @end = @look = nil if reason
      reason
    end

    private

    # Without a word it would be replaced again and again, and so would those that come after it.
    def watch_memory
      memory = @memory.read or return give_up
      @log.warn("MaxWorkerMemory is less than a worker has when it begins: #{memory}") if memory.own > @most
      @look = @clock.now + PERIOD
    end

    def too_old
      "age" if @end && @end <= @clock.now
    end

    def too_large
      return unless @look && @look <= @clock.now

      memory = @memory.read or return give_up
      @look = @clock.now + PERIOD
      memory.to_s if memory.own > @most
    end

    def give_up
      @look = nil
      @log.warn("MaxWorkerMemory has no effect: this system does not tell what memory a process has of its own")
      nil
    end
  end
end
