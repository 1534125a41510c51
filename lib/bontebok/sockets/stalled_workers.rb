# frozen_string_literal: true

require_relative "../system/clock"
require_relative "../system/proc/process_state"

module Bontebok
  # Finds workers that have hung for worker_timeout. A worker hangs if its process is stopped, or if one of its threads
  # keeps Ruby's lock. A worker with a request regularly shows on the scoreboard (a table in shared memory) that it
  # runs. A worker without a request is not woken; /proc shows whether its process is stopped. The master uses this
  # class for its workers, and the supervisor for adopted workers.
  class StalledWorkers
    # How many times #look reads the scoreboard within worker_timeout.
    LOOKS = 4

    class << self
      # True if a worker is not frozen at this moment, and has not hung for `seconds`; 0: no limit.
      def moving?(board, seconds, stops: ProcessState.method(:stop))
        limit = seconds.zero? ? Float::INFINITY : seconds * 1000
        board.lanes.group_by { |lane| lane[:pid] }.any? do |pid, lanes|
          taken = lanes.select { |lane| lane[:taken] }
          (taken.empty? || still(taken) < limit) && stops.call(pid).nil?
        end
      end

      # Returns the longest time, in ms, for which a lane has had a request, and the worker has not shown that it runs.
      def still(lanes)
        lanes.map { |lane| [lane[:taken], lane[:silent] || lane[:taken]].min }.max
      end
    end

    # The time at which #look is due next.
    attr_reader :time

    # board: the scoreboard. seconds: worker_timeout. clock: replaced in tests. stops: as ProcessState.stop.
    def initialize(board, seconds, clock: Clock, stops: ProcessState.method(:stop))
      @scoreboard = board
      @seconds = seconds
      @clock = clock
      @stops = stops
      @stopped = {}
      @since = @time = clock.now
      @lost = clock.lost
    end

    # Returns { pid => text for the log } of the stalled workers. Before #time, the result is empty.
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

    def pause = @seconds / LOOKS

    def begin_again(now)
      @since = now
      @stopped.clear
    end

    # The time of a stop counts from the first #look that finds the stop.
    def stopped(pids, now)
      stops = pids.to_h { |pid| [pid, @stops.call(pid)] }.compact
      @stopped = stops.to_h { |pid, stop| [[pid, stop], @stopped.fetch([pid, stop], now)] }
      long = @stopped.select { |_, since| now - since >= @seconds }
      long.to_h { |(pid, _), _| [pid, "has not moved for #{@seconds} s: its process is frozen, without a request"] }
    end

    # seconds: the time since this object began to watch the workers.
    def stalled(workers, seconds)
      return {} if seconds < @seconds

      workers.filter_map do |pid, lanes|
        taken = lanes.select { |lane| lane[:taken] }
        [pid, describe(taken)] if taken.any? && StalledWorkers.still(taken) >= @seconds * 1000
      end.to_h
    end

    def describe(lanes)
      unnamed = lanes.count { |lane| lane[:label].nil? }
      names = lanes.filter_map { |lane| lane[:label] }
      names << "#{unnamed} without a name" if unnamed.positive?
      "has not moved for #{@seconds} s, with these requests: #{names.join(', ')}"
    end
  end
end
