# frozen_string_literal: true

module Bench
  class Times
    # The times of all requests in an access log with the format "%D %{queue}n": microseconds.
    class Exact
      # Times in order.
      class Sorted
        def initialize(times)
          @times = times.sort
        end

        def quantile(share)
          @times.fetch([(share * @times.size).ceil - 1, 0].max)
        end
      end

      attr_reader :queue_time, :service_time

      def self.read(file)
        queued = []
        served = []
        File.foreach(file) do |line|
          whole, waited = line.split.map(&:to_i)
          queued << waited
          served << (whole - waited)
        end
        new(queued, served)
      end

      def initialize(queued, served)
        @queue_time = Sorted.new(queued)
        @service_time = Sorted.new(served)
      end
    end
  end
end
