# frozen_string_literal: true

require_relative "checks"

class TimesTest < Lint::TestCase
  def test_this_tree_subtracts_no_times
    assert_clean Lint::Times
  end

  def test_a_subtraction_of_times_is_reported
    text = <<~C
      uint64_t a = now - then, b = bb__clock_us() - lane->x, c = bb__elapsed(now, since); /* now - since */
      uint64_t d = lane->shares.began - lane->shares.crowded, e = end - *since, f = end - io->linger_began;
      uint64_t g = bb__clock_us() - (uint64_t)silence * 1000, h = len - used, i = since_then - 1;
    C
    lines = faults(Lint::Times, "core/src/a.c" => text).map { |fault| fault[/\S+/] }
    assert_equal ["core/src/a.c:1", "core/src/a.c:2"], lines
  end
end
