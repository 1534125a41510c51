# frozen_string_literal: true

module Bontebok
  # Counts the garbage collections of this process, and their time. The main thread calls #look when it runs anyway.
  class GcCount
    # core: the Core::Worker. collector: replaced in tests.
    def initialize(core, collector: GC)
      @core = core
      @collector = collector
      @timed = collector.respond_to?(:total_time)
      @runs, @time = read
    end

    # Counts the garbage collections since the last call.
    def look
      runs, time = read
      return if runs == @runs

      @core.count_gc(runs - @runs, [time - @time, 0].max / 1000)
      @time += (time - @time) / 1000 * 1000 # the rest counts next time
      @runs = runs
    end

    private

    # Time in nanoseconds.
    def read = [@collector.count, @timed ? @collector.total_time : 0]
  end
end
