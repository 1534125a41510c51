# frozen_string_literal: true

require "test_helper"
require "bontebok/bontebok"
require_relative "../support/log_case"

# Tests the texts that the log writes about an exception.
class LogFaultTest < Support::TestCase
  include LogCase

  def test_the_backtrace_of_an_exception_ends_before_the_servers_frames
    error = ArgumentError.new("bad")
    own = File.join(ROOT, "lib/bontebok/workers/worker.rb:1:in `x'")
    error.set_backtrace(["app.rb:3:in `a'", "/gems/rack/lib/rack/builder.rb:9:in `eval'", own, "main.rb:1"])
    @log.error("failed", error)
    assert_equal ["failed: bad (ArgumentError)", "  app.rb:3:in `a'"], text_of(written)
  end

  def test_a_command_that_cannot_be_executed_shows_the_applications_frames
    error = Errno::ENOENT.new.tap do |e|
      e.set_backtrace(["#{ROOT}/lib/bontebok/system/replaced/command_limits.rb:15:in `spawn'", "app.rb:1:in `call'",
                       "#{ROOT}/lib/bontebok/workers/lanes.rb:9:in `serve'"])
    end
    assert_equal ["app.rb:1:in `call'"], Bontebok::LogFault.read(error).backtrace
  end

  def test_an_exception_of_the_server_shows_all_its_frames
    error = ArgumentError.new("bad")
    error.set_backtrace([File.join(ROOT, "lib/bontebok/workers/worker.rb:1:in `x'"), "main.rb:1"])
    @log.error("failed", error)
    assert_equal 3, text_of(written).size
  end

  # If a body yields an object that is not a String, the exception has the frames of the body.
  def test_an_invalid_reply_shows_no_frames_of_the_server
    own = File.join(ROOT, "lib/bontebok/workers/lanes.rb:1:in `serve'")
    { [own, own] => [], ["app.rb:3:in `each'", own] => ["  app.rb:3:in `each'"] }.each do |backtrace, shown|
      error = Bontebok::Core::InvalidReply.new("no body")
      error.set_backtrace(backtrace)
      @log.error("GET /", error)
      assert_equal ["GET /: no body (Bontebok::Core::InvalidReply)", *shown], text_of(written)
    end
  end

  # Bundler's messages end with a line end.
  def test_a_line_end_after_the_message_is_removed
    @log.error("failed", StandardError.new("first\nsecond\n"))
    assert_equal ["failed: first", "  second (StandardError)"], text_of(written)
  end

  # All frames of a syntax error belong to the server and to Rack, because the server and Rack load the file.
  def test_an_exception_without_frames_of_the_application_shows_no_frames
    error = SyntaxError.new("config.ru:1: unexpected end")
    error.set_backtrace(["/gems/rack/lib/rack/builder.rb:9:in `eval'",
                         File.join(ROOT, "lib/bontebok/workers/app_loader.rb:1")])
    @log.error("failed", error)
    assert_equal ["failed: config.ru:1: unexpected end (SyntaxError)"], text_of(written)
  end

  def test_each_cause_is_a_line
    error = chain("last\nof three", "second\nline", "first")
    @log.error("failed", error)
    assert_equal ["failed: last", "  of three (RuntimeError)", "  last.rb:1",
                  "  caused by second (RuntimeError), second.rb:1",
                  "  caused by first (RuntimeError), first.rb:1"], text_of(written)
  end

  def test_a_long_chain_of_causes_is_cut
    @log.error("failed", chain(*"a".."z"))
    assert_equal 2 + Bontebok::LogFault::CAUSES, text_of(written).size
  end

  def test_a_cause_without_backtrace_or_usable_message_is_logged
    error = begin
      raise StandardError, "outer", [], cause: Class.new(StandardError) { define_method(:message) { exit } }.new
    rescue StandardError => e
      e
    end
    @log.error("failed", error)
    assert_match(/\A  caused by its message raised SystemExit \(#<Class:\S+\)\z/, text_of(written).last)
  end

  def test_a_long_backtrace_is_cut
    error = StandardError.new("deep")
    error.set_backtrace(Array.new(100) { |i| "app.rb:#{i}" })
    @log.error("failed", error)
    assert_equal [22, "  ... 80 more"], [(lines = text_of(written)).size, lines.last]
  end

  def test_an_exception_without_backtrace_is_one_line
    @log.warn("failed", StandardError.new("x"))
    assert_equal ["failed: x (StandardError)"], text_of(written)
  end

  def test_an_entry_may_have_texts_in_several_encodings
    error = StandardError.new("\u00e4".encode("UTF-16LE"))
    error.set_backtrace(["\u00e4.rb:1".encode("ISO-8859-1"), "\u00e4.rb:2"])
    @log.error("/\u00e4\xff".b, error)
    assert_equal ["/\\xc3\\xa4\\xff: \u00e4 (StandardError)", "  \u00e4.rb:1", "  \u00e4.rb:2"],
                 text_of(written)
  end

  def test_an_exception_without_a_usable_message_is_logged
    { -> { raise "no" } => "its message raised RuntimeError", -> { raise NotImplementedError } =>
      "its message raised NotImplementedError", -> { exit } => "its message raised SystemExit",
      -> { raise NoMemoryError } => "its message raised NoMemoryError", -> {} => "", -> { :text } => "text",
      -> { "no converter".dup.force_encoding(Encoding::UTF_7) } => "no converter" }.each do |message, told|
      error = Class.new(StandardError) { define_method(:message, &message) }.new
      @log.error("failed", error)
      assert_equal ["failed: #{told} (#{error.class})"], text_of(written)
    end
  end

  def test_an_exception_that_cannot_be_described_is_still_logged
    [-> { exit }, -> { 1 }, -> { [BasicObject.new] }].each do |backtrace|
      @log.error("failed", Class.new(StandardError) { define_method(:backtrace, &backtrace) }.new)
      assert_match(/\Afailed: .*cannot be described/, text_of(written).first)
    end
  end

  private

  # Returns an exception with this message and a chain of causes. The last message belongs to the innermost cause.
  def chain(message, *causes)
    raise message, cause: (chain(*causes) if causes.any?)
  rescue StandardError => e
    e.set_backtrace(["#{message[/\w+/]}.rb:1"])
    e
  end
end
