# frozen_string_literal: true

module Bontebok
  # Shows that a worker's main thread moves while its lanes have requests: on the scoreboard, for WorkerTimeout, and in
  # the process's title. If something keeps Ruby's lock, the main thread does not move.
  #
  # This costs a request nothing. The lanes report only the first request after a rest. The main thread then calls #look
  # at each interval, until the lanes are at rest. An idle worker is not woken.
  class Heartbeat
    INTERVAL = 1

    # Seconds until #look is due; nil: it is not due.
    attr_reader :seconds

    # lanes: they serve from now on. limit: WorkerTimeout in seconds; 0: no limit. Within the limit there are several
    # beats.
    def initialize(lanes, title, limit)
      @lanes = lanes
      @title = title
      @interval = limit.positive? ? [INTERVAL, limit / 4].min : INTERVAL
      look
    end

    # The lanes have a request again.
    def busy
      @seconds = @interval
      @title.busy
    end

    def look
      @lanes.beat
      return busy unless @lanes.rest

      @seconds = nil
      @title.idle
    end
  end
end
