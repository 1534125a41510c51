# frozen_string_literal: true

require_relative "child"

module Bontebok
  # Workers that have a request and have not moved for WorkerTimeout, as the board shows it: their process is stopped,
  # or something in it keeps Ruby's lock. For whoever can kill them; it need not be their parent.
  class StalledWorkers
    # So often in WorkerTimeout the board is looked at.
    LOOKS = 4

    # When #look is due next.
    attr_reader :time

    # board: shows its #lanes. seconds: WorkerTimeout. clock: what stands for ours in tests.
    def initialize(board, seconds, clock: Child)
      @board = board
      @seconds = seconds
      @clock = clock
      @since = @time = clock.now
    end

    # { pid => what the log says of it } of those that are stalled, when it is time to look; else there are none.
    def look
      now = @clock.now
      return {} if now < @time

      @since = now if now - @time > pause # we were stopped ourselves, and maybe everybody
      @time = now + pause
      stalled(@board.lanes.group_by { |lane| lane[:pid] }, now - @since)
    end

    private

    def pause
      @seconds / LOOKS
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
