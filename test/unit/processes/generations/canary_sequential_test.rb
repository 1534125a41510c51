# frozen_string_literal: true

require "test_helper"
require "bontebok/processes/generations/canary"

# The test that is asked all the time whether the canary has more errors. bench/canary simulates more runs.
class CanarySequentialTest < Support::TestCase
  Group = Bontebok::Canary::Group
  MARGIN = 0.01

  # At most 1 % of the verdicts may be wrong. The seed makes the number of these runs certain.
  def test_it_is_seldom_wrong
    random = Random.new(27)
    { [0.001, 0.001] => 0, [0.05, 0.05] => 0, [0.05, 0.06] => 0 }.each do |shares, wrong|
      assert_equal wrong, Array.new(100) { errors_seen(random, *shares) }.count(&:itself), shares.inspect
    end
  end

  def test_it_soon_sees_many_errors
    random = Random.new(27)
    seen = Array.new(100) { errors_seen(random, 0, 0.3) }
    assert_operator seen.map { |errors| errors || 1000 }.max, :<=, 15
  end

  # The least evidence is at an end of the possible shares. The share itself would have the logarithm of 0.
  def test_groups_without_errors_or_with_nothing_else_are_compared
    assert worse?([500, 500], [3, 0])
    assert worse?([400, 20], [100_000, 0])
    refute worse?([400, 6], [100_000, 0])
  end

  # A former generation without requests proves nothing.
  def test_nothing_is_worse_than_nothing
    refute worse?([500, 500], [0, 0])
    refute worse?([0, 0], [500, 0])
    assert worse?([500, 500], [500, 0])
  end

  private

  def worse?(fresh, former)
    groups = [fresh, former].map { |numbers| Group.new("", 1, *numbers) }
    Bontebok::Canary::SequentialTest.worse?(*groups, MARGIN)
  end

  # Five minutes with 12 requests per second, a quarter of them to the canary, which is judged once per second. The
  # canary's errors at a verdict, or nil.
  def errors_seen(random, share_of_former, share_of_canary)
    fresh = [0, 0]
    former = [0, 0]
    300.times do
      3.times { count(fresh, random, share_of_canary) }
      9.times { count(former, random, share_of_former) }
      return fresh.last if worse?(fresh, former)
    end
    nil
  end

  def count(group, random, share)
    group[0] += 1
    group[1] += 1 if random.rand < share
  end
end
