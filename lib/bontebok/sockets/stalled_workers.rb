# frozen_string_literal: true

require_relative "../system/clock"
require_relative "../system/process_stop"

module Bontebok
  # Finds workers that have not moved for WorkerTimeout. A worker that has a request shows on the scoreboard that it
  # moves. It does not move if its process is stopped, or if something in it keeps Ruby's lock. A worker without a
  # request is not woken; for such a worker the kernel tells whether its process is stopped. The process that uses this
  # must be able to kill the workers; it need not be their parent.
  class StalledWorkers
    # How many times #look reads the scoreboard within WorkerTimeout.
    LOOKS = 4

    # The time at which #look is due next.
    attr_reader :time

    # board: the scoreboard. seconds: WorkerTimeout. clock: replaced in tests. stops: returns what ProcessStop.of
    # returns.
    def initialize(board, seconds, clock: Clock, stops: ProcessStop.method(:of))
      @scoreboard = board
      @seconds = seconds
      @clock = clock
      @stops = stops
      @stopped = {}
      @since = @time = clock.now
      @lost = clock.lost
    end

    # Returns { pid => text for the log } of the stalled workers. Before #time, it is empty.
    def look
      now = @clock.now
      return {} if now < @time

      late = now - @time + @clock.lost - @lost
      begin_again(now) if late > pause # this process was stopped, and maybe all others
      @lost = @clock.lost
      @time = now + pause
      workers = @scoreboard.lanes.group_by { |lane| lane[:pid] }
      stopped(workers.keys, now).merge(stalled(workers, now - @since))
    end

    private

    def pause
      @seconds / LOOKS
    end

    def begin_again(now)
      @since = now
      @stopped.clear
    end

    # The time of a stop counts from the #look that finds the stop.
    def stopped(pids, now)
      stops = pids.to_h { |pid| [pid, @stops.call(pid)] }.compact
      @stopped = stops.to_h { |pid, stop| [[pid, stop], @stopped.fetch([pid, stop], now)] }
      long = @stopped.select { |_, since| now - since >= @seconds }
      long.to_h { |(pid, _), _| [pid, "has not moved for #{@seconds} s: its process is stopped, without a request"] }
    end

    # seconds: the time for which this object has watched.
    def stalled(workers, seconds)
      return {} if seconds < @seconds

      workers.filter_map do |pid, lanes|
        taken = lanes.select { |lane| lane[:taken] }
        [pid, describe(taken)] if taken.any? && still?(taken) >= @seconds * 1000
      end.to_h
    end

    # Returns the longest time, in ms, for which a lane has had a request and the worker has not moved.
    def still?(lanes)
      lanes.map { |lane| [lane[:taken], lane[:silent] || lane[:taken]].min }.max
    end

    def describe(lanes)
      unnamed = lanes.count { |lane| lane[:label].nil? }
      names = lanes.filter_map { |lane| lane[:label] }
      names << "#{unnamed} without a name" if unnamed.positive?
      "has not moved for #{@seconds} s, with these requests: #{names.join(', ')}"
    end
  end
end
