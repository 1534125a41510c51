# frozen_string_literal: true

module Bontebok
  # Shows that a worker's main thread moves while its lanes have requests: on the scoreboard, for WorkerTimeout, and in
  # the process's title. If something keeps Ruby's lock, the main thread does not move.
  #
  # A request costs nothing for it. The lanes report the first request after a rest. The main thread then looks from
  # time to time, until it finds the lanes at rest. An idle worker is not woken.
  class Heartbeat
    INTERVAL = 1

    # Seconds until #look is due; nil: it is not due.
    attr_reader :seconds

    # lanes: they serve from now on. limit: WorkerTimeout in seconds, in which there are several beats; 0: no limit.
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
