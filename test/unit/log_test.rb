# frozen_string_literal: true

require "test_helper"
require "io/nonblock"
require "timeout"
require "bontebok/log"

# The server's own log.
class LogTest < Support::TestCase
  def setup
    @reader, writer = IO.pipe
    @log = Bontebok::Log.new(@writer = writer)
  end

  def teardown
    [@reader, @writer].each(&:close)
  end

  def test_a_line_has_time_level_process_and_message
    @log.info("hello")
    assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info #{Process.pid} hello\n\z/, written)
  end

  def test_levels
    Bontebok::Log::LEVELS.each { |level| @log.public_send(level, "x") }
    assert_equal %w[info warn error], written.scan(/Z (\w+) /).flatten
  end

  def test_further_lines_are_indented
    @log.error("one\ntwo\nthree")
    assert_equal ["  two", "  three"], written.lines(chomp: true).drop(1)
  end

  def test_an_exception_with_its_backtrace_but_not_our_frames
    error = ArgumentError.new("bad")
    own = File.join(ROOT, "lib/bontebok/worker.rb:1:in `x'")
    error.set_backtrace(["app.rb:3:in `a'", "/gems/rack/lib/rack/builder.rb:9:in `eval'", own, "main.rb:1"])
    @log.error("failed", error)
    assert_equal ["failed: bad (ArgumentError)", "  app.rb:3:in `a'"], text_of(written)
  end

  def test_a_fault_of_our_own_with_all_its_frames
    error = ArgumentError.new("bad")
    error.set_backtrace([File.join(ROOT, "lib/bontebok/worker.rb:1:in `x'"), "main.rb:1"])
    @log.error("failed", error)
    assert_equal 3, text_of(written).size
  end

  def test_a_long_backtrace_is_cut
    error = StandardError.new("deep")
    error.set_backtrace(Array.new(100) { |i| "app.rb:#{i}" })
    @log.error("failed", error)
    assert_equal [22, "  ... 80 more"], [(lines = text_of(written)).size, lines.last]
  end

  def test_one_without_backtrace
    @log.warn("failed", StandardError.new("x"))
    assert_equal ["failed: x (StandardError)"], text_of(written)
  end

  def test_bytes_that_are_no_text_do_not_hurt
    ["a\xffb", "a\xffb".b, "a\xffb".dup.force_encoding("US-ASCII")].each do |text|
      @log.info(text)
      assert_includes written, "a\uFFFDb"
    end
  end

  def test_a_line_may_be_of_several_encodings
    error = StandardError.new("\u00e4".encode("UTF-16LE"))
    error.set_backtrace(["\u00e4.rb:1".encode("ISO-8859-1"), "\u00e4.rb:2".b])
    @log.error("/\u00e4\xff".b, error)
    assert_equal ["/\u00e4\uFFFD: \u00e4 (StandardError)", "  \u00e4.rb:1", "  \u00e4.rb:2"], text_of(written)
  end

  def test_an_exception_without_a_usable_message
    { -> { raise "no" } => "its message raised RuntimeError", -> { raise NotImplementedError } =>
      "its message raised NotImplementedError", -> {} => "", -> { :text } => "text" }.each do |message, told|
      error = Class.new(StandardError) { define_method(:message, &message) }.new
      @log.error("failed", error)
      assert_equal ["failed: #{told} (#{error.class})"], text_of(written)
    end
  end

  def test_a_reader_that_has_gone_is_no_error
    @reader.close
    @log.info("x")
    @writer.close
    @log.info("x")
  end

  def test_a_full_pipe_costs_the_line_and_not_the_process
    @writer.write_nonblock("x" * 65_536) while @writer.wait_writable(0)
    @writer.nonblock = false
    Timeout.timeout(10) { @log.info("lost") }
    refute_includes @reader.read_nonblock(1 << 20), "lost"
  end

  private

  def written
    @reader.readpartial(65_536).force_encoding(Encoding::UTF_8)
  end

  # Without time, level and process.
  def text_of(output)
    output.sub(/\A\S+ \S+ \d+ /, "").lines(chomp: true)
  end
end
