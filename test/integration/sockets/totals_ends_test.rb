# frozen_string_literal: true

require "test_helper"
require_relative "../support/control_case"

# What the totals say when all workers of a generation end.
class TotalsEndsTest < Support::TestCase
  include ControlCase

  def test_a_generation_that_ends_has_one_note
    server = start
    totals = TotalsReader.new(server.pid)
    2.times { |former| deploy(former + 2) }
    assert(eventually(seen: -> { totals.look }) { totals.look["ended asked"] == 4 })
    assert_equal(%w[1 2].map { |former| "generation #{former} (2 workers) ends: another generation or server serves" },
                 totals.notes(:end))
  end

  def test_a_generation_that_is_kept_has_one_note
    server = start("--keep-former", "10m")
    totals = TotalsReader.new(server.pid)
    deploy(2)
    assert(eventually(seen: -> { totals.look }) { totals.look["ended asked"] == 2 })
    assert_equal ["generation 1 (2 workers) ends: another generation serves"], totals.notes(:end)
  end

  private

  def deploy(number) = assert_command(0, "generation #{number} serves\n", "deploy", "--wait")
end
