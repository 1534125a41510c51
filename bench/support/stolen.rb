# frozen_string_literal: true

module Bench
  # The CPU time that a virtual machine did not get, because its host ran other machines. Figures with much stolen
  # time say nothing about a server. If the kernel does not report stolen time, the percentage is 0.
  class Stolen
    # TRIES is the highest number of measurements. If less than TOLERABLE percent of the time was stolen in a
    # measurement, no other measurement follows.
    TRIES = 3
    TOLERABLE = 0.5
    FIELD = 8

    # Runs the block up to TRIES times. Returns the result of the run with the least stolen time, and the percentage of
    # time that was stolen in this run.
    def self.least(&block)
      tries = []
      TRIES.times do
        tries << measure(&block)
        break if tries.last.last < TOLERABLE
      end
      tries.min_by(&:last)
    end

    # [result of the block, percentage]
    def self.measure
      before = ticks
      result = yield
      stolen, all = ticks.zip(before).map { |after, earlier| after - earlier }
      [result, all.positive? ? 100.0 * stolen / all : 0.0]
    end

    # [stolen ticks, all ticks] since the machine started.
    def self.ticks
      times = File.read("/proc/stat").lines.first.split.drop(1).first(FIELD).map(&:to_i)
      [times[FIELD - 1].to_i, times.sum]
    end
    private_class_method :measure, :ticks
  end
end
