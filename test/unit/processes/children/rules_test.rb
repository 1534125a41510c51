# frozen_string_literal: true

require "test_helper"
require_relative "../../support/workers/mistakes"
require_relative "../../support/workers/walk"

# Walks Children and its rules through random events, and proves that the walks find mistakes.
class RulesTest < Support::TestCase
  # These few walks find all mistakes.
  SEEDS = (603..630)

  def test_walks_find_no_fault
    assert_nil WorkersWalk.fault(SEEDS)
  end

  WorkersMistakes::ALL.each_key do |mistake|
    define_method(:"test_walks_find_that_#{mistake.tr(' ', '_')}") do
      WorkersMistakes.make(mistake) { refute_nil WorkersWalk.fault(SEEDS), mistake }
    end
  end
end
