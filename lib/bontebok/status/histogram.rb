# frozen_string_literal: true

module Bontebok
  module Status
    # Counts of durations in 731 buckets. A bucket holds whole microseconds: 0 to 9 one each, then 90 buckets for each
    # power of ten. The last bucket holds 1,000 s and more. A bucket is at most 10 % wide, so its middle is at most 5 %
    # off. Bounds such as 0.005 s and 0.01 s lie between two buckets.
    class Histogram
      # The powers of ten with 90 buckets each: from 10 us to below 1,000 s.
      POWERS = (0..7)
      # The first microsecond of each bucket.
      FIRST = [*0..9, *POWERS.flat_map { |power| (10..99).map { |step| step * (10**power) } }, 10**9].freeze
      SIZE = FIRST.size
      # The middle of each bucket, in seconds.
      MIDDLES = [*FIRST.each_cons(2).map { |first, following| (first + following - 1) / 2e6 }, FIRST.last / 1e6].freeze
      LARGEST = (2**64) - 1
      private_constant :POWERS, :MIDDLES, :LARGEST

      attr_reader :counts

      # The bucket of a duration in whole microseconds.
      def self.bucket(microseconds)
        FIRST.bsearch_index { |first| first > microseconds }&.pred || (SIZE - 1)
      end

      # counts: any object; what is no count becomes 0.
      def initialize(counts = nil)
        counts = [] unless counts.is_a?(Array)
        @counts = Array.new(SIZE) { |i| counts[i].is_a?(Integer) ? counts[i].clamp(0, LARGEST) : 0 }.freeze
      end

      def count
        cumulative.last
      end

      # The counts since an earlier histogram.
      def -(other)
        Histogram.new(counts.zip(other.counts).map { |now, before| now - before })
      end

      # share: 0 to 1, for example 0.99. Returns seconds; nil: no duration was counted.
      def quantile(share)
        return if count.zero?

        rank = (share * count).ceil.clamp(1, count)
        MIDDLES[cumulative.bsearch_index { |sum| sum >= rank }]
      end

      # The number of durations that are shorter than the bound. If no bucket begins at the bound, the bucket with the
      # bound does not count.
      def below(seconds)
        return count if seconds * 1e6 > FIRST.last

        bucket = Histogram.bucket((seconds * 1e6).round)
        bucket.positive? ? cumulative[bucket - 1] : 0
      end

      # All durations together, in seconds.
      def sum
        counts.each_with_index.sum { |count, i| count * MIDDLES[i] }
      end

      private

      def cumulative
        @cumulative ||= begin
          sum = 0
          counts.map { |count| sum += count }
        end
      end
    end
  end
end
