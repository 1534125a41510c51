# frozen_string_literal: true

require "test_helper"
require "bontebok/workers/gc_count"

# Tests what GcCount adds to the totals.
class GcCountTest < Support::TestCase
  Untimed = Class.new { attr_accessor :count }
  Collector = Class.new(Untimed) { attr_accessor :total_time }
  Core = Struct.new(:counted) do
    def count_gc(*numbers) = counted << numbers
  end

  def setup
    @core = Core.new([])
  end

  # The collections before the fork are not this worker's. Times below a microsecond are not lost.
  def test_only_new_collections_are_counted
    collector = Collector.new
    collector.count = 5
    collector.total_time = 7_000
    count = Bontebok::GcCount.new(@core, collector: collector)
    count.look
    assert_empty @core.counted
    [[6, 8_600], [6, 8_600], [8, 10_200]].each do |numbers|
      collector.count, collector.total_time = numbers
      count.look
    end
    assert_equal [[1, 1], [2, 2]], @core.counted
  end

  def test_a_ruby_that_does_not_measure_the_time
    collector = Untimed.new
    collector.count = 1
    count = Bontebok::GcCount.new(@core, collector: collector)
    collector.count = 3
    count.look
    assert_equal [[2, 0]], @core.counted
  end

  def test_with_this_ruby
    count = Bontebok::GcCount.new(@core)
    GC.start
    count.look
    assert_operator @core.counted.sum(&:first), :>=, 1
  end
end
