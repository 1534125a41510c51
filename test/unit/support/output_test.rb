# frozen_string_literal: true

require "test_helper"

# Tests Output: it returns all bytes that a process has written.
class OutputTest < Minitest::Test
  def setup
    @output = Support::Output.new
    @writers = %i[stdout stderr].to_h do |stream|
      reader, writer = IO.pipe
      @output.collect(stream, reader)
      [stream, writer]
    end
  end

  def teardown
    @writers.each_value(&:close)
  end

  # The text must be complete even if the thread that reads has not run since the write.
  def test_the_text_has_all_that_was_written_before
    (1..1000).each do |count|
      @writers[:stdout].write("x")
      assert_equal count, @output.text.size
    end
  end

  def test_streams_can_be_read_separately_and_together
    @writers[:stdout].write("b")
    @output.wait_for(/b/)
    @writers[:stderr].write("a")
    assert_equal %w[ab b a], [@output.text, @output.text(:stdout), @output.text(:stderr)]
  end

  # The order of both is that of the threads that read.
  def test_a_pattern_must_match_in_one_stream
    @writers[:stderr].write("a")
    @output.wait_for(/a/)
    @writers[:stdout].write("b")
    @output.wait_for(/b/)
    assert_raises(Support::Timeout) { @output.wait_for(/ab|ba/, 0.01) }
  end

  def test_wait_for_end_waits_for_all_streams
    @writers[:stderr].close
    assert_raises(Support::Timeout) { @output.wait_for_end(0.01) }
    @writers[:stdout].write("last")
    @writers[:stdout].close
    assert_nil @output.wait_for(/more/)
    assert @output.wait_for_end
    assert_equal "last", @output.text
  end
end
