# frozen_string_literal: true

require "stringio"
require "test_helper"
require "bontebok/cli/status/screen"

class ScreenTest < Minitest::Test
  def setup
    @out = StringIO.new
    @size = [5, 12]
    size = -> { @size }
    @out.define_singleton_method(:winsize) { size.call }
    @screen = Bontebok::Screen.new(@out)
  end

  def test_a_drawing_replaces_the_former_one_in_one_write
    assert_equal "\rone\e[K\ntwo\e[K\n\e[J", draw("one\ntwo")
    assert_equal "\r\e[2Athree\e[K\n\e[J", draw("three\n")
    assert_equal "\r\e[1Aone\e[K\n\e[J", draw("one")
  end

  def test_lines_are_cut_at_the_size_of_the_terminal
    assert_equal %w[12345678901 2 3 4], lines(draw("123456789012\n2\n3\n4\n5\n6"))
    @size = [1, 1]
    assert_equal %w[1], lines(draw("12\n34"))
    @size = [0, 0]
    assert_equal ["x" * 79], lines(draw("x" * 100))
  end

  def test_a_wide_character_may_take_two_columns
    assert_equal ["\u6f22\u5b57\u6f22\u5b57\u6f22"], lines(draw("\u6f22\u5b57" * 9))
    assert_equal ["abc\u6f22defghi"], lines(draw("abc\u6f22defghijk"))
  end

  def test_after_a_change_of_the_size_the_whole_terminal_is_drawn
    draw("one")
    @screen.forget
    assert_equal "\r\e[H\e[2Jone\e[K\n\e[J", draw("one")
  end

  private

  def draw(text)
    @out.truncate(0)
    @out.rewind
    @screen.draw(text)
    @out.string.dup
  end

  def lines(drawn) = drawn.gsub(/\r|\e\[\d*\w/, "").lines(chomp: true)
end
