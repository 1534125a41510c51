# frozen_string_literal: true

require "test_helper"
require "bontebok/log/log_text"

# Tests how the log escapes text from clients and applications.
class LogTextTest < Minitest::Test
  def test_harmless_text_is_not_changed
    ["", "GET /a?b=\\x \"'", "\u00e4\u20ac\u{1f60a}", "one\ntwo"].each { |text| assert_equal text, clean(text) }
  end

  # The escape sequences of terminals begin with ESC or with CSI (U+009B).
  def test_control_characters_and_line_separators_are_escaped
    assert_equal 'a\x1b[31mb\x07\x08\x7f\x00', clean("a\e[31mb\a\b\x7f\0")
    assert_equal '\xc2\x9b31m \xe2\x80\xa8\xe2\x80\xa9', clean("\u009b31m \u2028\u2029")
    assert_equal "one\\x0d\ntwo\\x09", clean("one\r\ntwo\t")
  end

  # Text from a client is binary, because its encoding is unknown.
  def test_bytes_above_ascii_are_escaped_in_binary_text
    assert_equal 'GET /\xc3\xa4\xff\x1b[2J', clean("GET /\u00e4\xff\e[2J".b)
    message = "no such shelf: #{"\xe2\x80\xa8".b}"
    assert_equal 'no such shelf: \xe2\x80\xa8', clean(message)
  end

  def test_invalid_bytes_are_escaped
    ["a\xffb", "a\xffb".dup.force_encoding("US-ASCII"), "a\xffb".dup.force_encoding("EUC-JP")].each do |text|
      assert_equal 'a\xffb', clean(text), text.encoding
    end
  end

  def test_text_of_other_encodings_is_converted
    ["\u00e4".encode("UTF-16LE"), "\u00e4".encode("ISO-8859-1"), "\u00e4".dup.force_encoding("US-ASCII")].each do |text|
      assert_equal "\u00e4", clean(text), text.encoding
    end
    assert_equal "no converter", clean("no converter".dup.force_encoding(Encoding::UTF_7))
    assert_equal 'a\x81', clean("a\x81".dup.force_encoding("Windows-1252"))
  end

  def test_a_long_text_is_cut
    assert_equal "#{"\u00e4" * 4096}... 15904 more", clean("\u00e4" * 20_000)
    assert_equal "#{'\xff' * 4096}... 1 more", clean("\xff".b * 4097)
    assert_equal "x" * 4096, clean("x" * 4096)
  end

  def test_an_object_becomes_a_plain_string
    assert_equal %w[text 1] << "", [clean(:text), clean(1), clean(nil)]
    changed = Class.new(String) { define_method(:gsub) { |*| raise } }.new("a\e")
    assert_equal 'a\x1b', clean(changed)
  end

  def test_the_result_is_valid_and_the_argument_is_not_changed
    text = "a\xff".b.freeze
    assert_equal [Encoding::UTF_8, true], [clean(text).encoding, clean(text).valid_encoding?]
    assert_equal "a\xff".b, text
  end

  private

  def clean(text)
    Bontebok::LogText.clean(text)
  end
end
