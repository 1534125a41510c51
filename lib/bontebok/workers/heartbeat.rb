# frozen_string_literal: true

require_relative "../system/clock"

module Bontebok
  # Shows on the scoreboard that a worker's main thread runs, while the worker's lanes have requests. Shows in the
  # process's title whether the lanes have requests. StalledWorkers reads the scoreboard (worker_timeout). If another
  # thread keeps Ruby's lock, the main thread does not run.
  #
  # This costs a request no time. The lanes report only the first request after a rest (a time without requests). After
  # this report, the main thread calls #tick at each #deadline, until the lanes rest again. An idle worker is not woken.
  class Heartbeat
    INTERVAL = 1

    # The time of the next #tick; nil: it need not be called. Other events of the main thread do not delay it.
    attr_reader :deadline

    # lanes: the Lanes, which serve from now on. title: the WorkerTitle; nil: the title has no state. limit:
    # worker_timeout in seconds; 0: no limit. The interval is at most a quarter of the limit.
    def initialize(lanes, title, limit)
      @lanes = lanes
      @title = title
      @interval = limit.positive? ? [INTERVAL, limit / 4].min : INTERVAL
      look
    end

    # Called when the lanes have a request after a rest.
    def busy
      @deadline = Clock.now + @interval
      @title&.busy
    end

    def tick
      look if @deadline && @deadline <= Clock.now
    end

    private

    def look
      @lanes.beat
      return busy unless @lanes.rest

      @deadline = nil
      @title&.idle
    end
  end
end
