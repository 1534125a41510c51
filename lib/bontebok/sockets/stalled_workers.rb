# frozen_string_literal: true

require_relative "../system/clock"
require_relative "../system/process_stop"

module Bontebok
  # Workers that have not moved for WorkerTimeout. Those that have a request show on the board that they move. They do
  # not if their process is stopped, or something in it keeps Ruby's lock. Those that have no request are not woken; of
  # them the kernel tells whether their process is stopped. For whoever can kill them; it need not be their parent.
  class StalledWorkers
    # So often in WorkerTimeout the board is looked at.
    LOOKS = 4

    # When #look is due next.
    attr_reader :time

    # board: shows its #lanes. seconds: WorkerTimeout. clock: what stands for ours in tests.
    # stops: returns what ProcessStop.of does.
    def initialize(board, seconds, clock: Clock, stops: ProcessStop.method(:of))
      @scoreboard = board
      @seconds = seconds
      @clock = clock
      @stops = stops
      @stopped = {}
      @since = @time = clock.now
      @lost = clock.lost
    end

    # { pid => what the log says of it } of those that are stalled, when it is time to look; else there are none.
    def look
      now = @clock.now
      return {} if now < @time

      late = now - @time + @clock.lost - @lost
      begin_anew(now) if late > pause # we were stopped ourselves, and maybe everybody
      @lost = @clock.lost
      @time = now + pause
      workers = @scoreboard.lanes.group_by { |lane| lane[:pid] }
      stopped(workers.keys, now).merge(stalled(workers, now - @since))
    end

    private

    def pause
      @seconds / LOOKS
    end

    def begin_anew(now)
      @since = now
      @stopped.clear
    end

    # A stop counts from the look that finds it.
    def stopped(pids, now)
      stops = pids.to_h { |pid| [pid, @stops.call(pid)] }.compact
      @stopped = stops.to_h { |pid, stop| [[pid, stop], @stopped.fetch([pid, stop], now)] }
      long = @stopped.select { |_, since| now - since >= @seconds }
      long.to_h { |(pid, _), _| [pid, "has not moved for #{@seconds} s: its process is stopped, without a request"] }
    end

    # seconds: for which we have been watching.
    def stalled(workers, seconds)
      return {} if seconds < @seconds

      workers.filter_map do |pid, lanes|
        taken = lanes.select { |lane| lane[:taken] }
        [pid, describe(taken)] if taken.any? && still?(taken) >= @seconds * 1000
      end.to_h
    end

    # ms, for which the oldest request was there and nothing moved.
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
