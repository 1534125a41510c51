# frozen_string_literal: true

require_relative "../sockets/departure"

module Bontebok
  # The part of SingleProcess that begins a graceful stop. Before that, it leaves the addresses to other servers
  # (ReusePort).
  module InPlaceDeparture
    private

    # status: the exit status.
    def leave(status = 0)
      return stop_deploying if @deadline
      return if @departure

      @status = status
      @departure = Departure.new(@listeners, patience: @config.seconds(:worker_boot_timeout), log: @log)
      tick_departure
    end

    # Drains when the addresses are left.
    def tick_departure
      drain if @departure && !@deadline && @departure.over?
    end

    def drain
      @log.info("stopping")
      @deadline = Deadline.new(@config.seconds(:graceful_timeout))
      @lanes.drain
    end
  end
end
