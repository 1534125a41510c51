# frozen_string_literal: true

require_relative "../system/clock"
require_relative "../system/process_memory"

module Bontebok
  # Decides by max_worker_age and max_worker_memory when a worker must be replaced. The worker's main thread calls
  # #reason at each #deadline while the lanes run. The lanes count the requests for max_requests.
  class Recycling
    # Seconds between two checks of the memory. A worker that exceeds max_worker_memory from the start is replaced after
    # this time, not sooner.
    PERIOD = 10

    # Made when the worker begins to serve. memory, clock: replaced in tests.
    def initialize(config, log:, memory: ProcessMemory, clock: Clock)
      @most = config[:max_worker_memory]
      @memory = memory
      @clock = clock
      @log = log
      age = config.age_limit
      @end = @clock.now + age if age.positive?
      watch_memory if @most.positive?
    end

    # The time of the next #reason; nil: it need not be called.
    def deadline = [@end, @look].compact.min

    # Returns, once, the reason to replace the worker: a word of Channel, and text for the log; nil: there is none.
    def reason
      reason = too_old || too_large
      @end = @look = nil if reason
      reason
    end

    private

    # Warns if the worker begins above the limit, because it and all its successors will be replaced after PERIOD.
    def watch_memory
      memory = @memory.read or return give_up
      @log.warn("max_worker_memory is less than a worker has when it begins: #{memory}") if memory.own > @most
      @look = @clock.now + PERIOD
    end

    def too_old
      [:max_worker_age, "age"] if @end && @end <= @clock.now
    end

    def too_large
      return unless @look && @look <= @clock.now

      memory = @memory.read or return give_up
      @look = @clock.now + PERIOD
      [:max_worker_memory, memory.to_s] if memory.own > @most
    end

    def give_up
      @look = nil
      @log.warn("max_worker_memory has no effect: the system does not show how much memory belongs to a process alone")
      nil
    end
  end
end
