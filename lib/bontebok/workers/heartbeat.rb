# frozen_string_literal: true

module Bontebok
  # Shows others that a worker's main thread moves while its lanes have requests: on the board, for WorkerTimeout, and
  # in the process's title. Whatever keeps Ruby's lock keeps the main thread.
  #
  # A request costs nothing for it. The first one after a rest is reported by the lanes, and makes the main thread look
  # from time to time, until it finds that they rest; an idle worker is not woken.
  class Heartbeat
    INTERVAL = 1

    # How long may be waited until #look; nil: it need not be called.
    attr_reader :seconds

    # lanes: they serve from now on. limit: WorkerTimeout in seconds, in which there are several
    # beats; 0: none.
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
