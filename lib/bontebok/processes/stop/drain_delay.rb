# frozen_string_literal: true

require_relative "../../system/clock"

module Bontebok
  # The time from TERM to the stop (drain_delay). The server serves on, and shows its clients and load balancers that it
  # will stop. Used by Stop.
  class DrainDelay
    # The time (Clock) at which #tick must be called; nil: it need not be called.
    attr_reader :deadline

    # announce: called with true, shows clients and load balancers that the server will stop. stop: begins the graceful
    # stop, unless the server stops already.
    def initialize(effective, announce, log:, &stop)
      @effective = effective
      @announce = announce
      @log = log
      @stop = stop
      @begun = false
    end

    # True from the first signal on.
    def begun?
      @begun
    end

    # Called with each signal for a graceful stop. A second signal ends the delay. ready: false: the server does not
    # serve yet, and stops at once.
    def begin(ready:)
      return finish if @begun || !ready

      @begun = true
      seconds = @effective.config.seconds(:drain_delay)
      return finish if seconds.zero?

      @announce.call(true)
      @deadline = Clock.now + seconds
      @log.info("draining: stops in #{seconds} s")
    end

    # Begins the stop without the rest of the delay, or without the delay.
    def skip
      @begun = true
      finish
    end

    def tick
      finish if @deadline && Clock.now >= @deadline
    end

    private

    def finish
      @deadline = nil
      @stop.call
    end
  end
end
