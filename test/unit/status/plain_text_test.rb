# frozen_string_literal: true

require "test_helper"
require "bontebok/status/plain_text"

class PlainTextTest < Minitest::Test
  def test_harmless_text_is_not_changed
    ["", "GET /a?b=\\x \"'", "\u00e4\u20ac\u{1f60a}"].each { |text| assert_equal text, clean(text) }
  end

  # The escape sequences of terminals begin with ESC or with CSI (U+009B).
  def test_control_characters_are_replaced
    assert_equal "a?[31mb????", clean("a\e[31mb\a\r\n\x7f")
    assert_equal "?31m??", clean("\u009b31m\0\t")
  end

  # U+202E writes the rest of the line from right to left.
  def test_characters_that_steer_or_hide_text_are_replaced
    ["\u202e", "\u2066", "\u200b", "\u200d", "\u2028", "\u2029", "\ufeff", "\u00ad", "\u061c", "\u{e0041}", "\u3164",
     "\u2800", "\ue000"].each { |character| assert_equal "a?b", clean("a#{character}b"), character.dump }
  end

  def test_a_part_of_a_log_keeps_its_lines_and_loses_its_colours
    part = "\e[1;31merror\e[0m\tcaf\u00e9 \u2714\ufe0f\n  at a.rb\n"
    assert_equal "error\tcaf\u00e9 \u2714\ufe0f\n  at a.rb\n", lines(part)
    assert_equal "?[2J?]0;x??2J?a?\n#{"x" * 9000}", lines("\e[2J\e]0;x\a\u009b2J\ra\u202e\n#{"x" * 9000}")
    assert_equal "a?\u00e9", lines("a\xff\u00e9".b)
  end

  def test_invalid_bytes_are_replaced
    assert_equal "a?b", clean("a\xffb")
    assert_equal "a\u00e4?", clean("a\u00e4\xe2\x82".b)
    assert_equal "a?", clean("a".encode("UTF-16LE"))
  end

  def test_a_long_text_is_cut
    assert_equal "#{"a" * 17}...", clean("a" * 1_000_000)
    assert_equal "#{"\u{1f60a}" * 17}...", clean("\u{1f60a}" * 21)
    assert_equal "\u{1f60a}" * 20, clean("\u{1f60a}" * 20)
  end

  def test_the_result_is_utf_8_and_the_argument_stays
    text = "a\xff".b.freeze
    assert_equal [Encoding::UTF_8, true], [clean(text).encoding, clean(text).valid_encoding?]
  end

  private

  def lines(text) = Bontebok::Status::PlainText.lines(text)
  def clean(text) = Bontebok::Status::PlainText.clean(text, 20)
end
