# frozen_string_literal: true

require "test_helper"
require "bontebok/status/histogram"

class HistogramTest < Minitest::Test
  Histogram = Bontebok::Status::Histogram

  # The rule of the buckets, written once more: a bucket for each of 0 to 9, then 90 for each power of ten.
  def bucket(microseconds)
    return 730 if microseconds >= 10**9
    return microseconds if microseconds < 10

    power = microseconds.to_s.size - 2
    10 + (90 * power) + (microseconds / (10**power)) - 10
  end

  def test_every_bound_is_exact
    assert_equal 731, Histogram::SIZE
    Histogram::FIRST.each_with_index do |first, i|
      assert_equal [i, bucket(first)], [Histogram.bucket(first), i]
      assert_equal i - 1, Histogram.bucket(first - 1) if i.positive?
    end
    assert_equal 730, Histogram.bucket(2**64)
  end

  def test_below_is_exact_at_each_bound
    times = histogram(Histogram::FIRST)
    Histogram::FIRST.each_with_index { |first, i| assert_equal i, times.below(first / 1e6), first }
    assert_equal 731, times.below(Float::INFINITY)
  end

  # The bounds of OpenTelemetry and of Prometheus.
  def test_the_usual_bounds_lie_between_two_buckets
    [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10].each do |bound|
      microseconds = (bound * 1_000_000).round
      assert_equal 1, histogram([microseconds - 1, microseconds]).below(bound), bound
    end
  end

  def test_quantiles_are_at_most_5_percent_off
    random = Random.new(38)
    20.times do
      times = Array.new(1000) { (10**random.rand(0.0..9.0)).to_i }.sort
      [0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1].each do |share|
        exact = times[(share * times.size).ceil - 1] / 1e6
        assert_in_delta exact, histogram(times).quantile(share), [exact * 0.05, 1e-6].max
      end
    end
  end

  def test_a_quantile_of_small_durations_is_exact
    assert_equal 0.000037, histogram([37] * 3).quantile(0.5)
    assert_equal 0.0, histogram([0]).quantile(0.99)
  end

  def test_no_duration_has_no_quantile
    assert_nil histogram([]).quantile(0.5)
    assert_equal [0, 0.0, 0], [histogram([]).count, histogram([]).sum, histogram([]).below(1)]
  end

  def test_1000_seconds_and_more_are_in_the_last_bucket
    times = histogram([10**9, 10**12])
    assert_equal [1000.0, 0, 2], [times.quantile(0.5), times.below(1000), times.count]
  end

  def test_the_sum_is_at_most_5_percent_off
    assert_in_delta 1.0, histogram([250_000] * 4).sum, 0.05
  end

  def test_a_difference_is_never_negative
    difference = histogram([5, 5, 70]) - histogram([5, 80])
    assert_equal([[5, 1], [70, 1]], difference.counts.each_with_index.filter_map { |n, i| [i, n] if n.positive? })
  end

  def test_anything_is_taken_for_counts
    [nil, "x", [], [nil, "1", -4, 1.5], [2**64] * 2000].each do |counts|
      assert_equal 731, Histogram.new(counts).counts.size
    end
    assert_equal 7, Histogram.new([nil, 7, -1, "2"]).count
  end

  private

  def histogram(times)
    counts = Array.new(731, 0)
    times.each { |time| counts[bucket(time)] += 1 }
    Histogram.new(counts)
  end
end
