# frozen_string_literal: true

require "logger"
require "stringio"
require "test_helper"
require "bontebok/log/callers_log"

# Tests the receivers of a Server's log.
class CallersLogTest < Minitest::Test
  FAULT = KeyError.new("none").tap { |error| error.set_backtrace(["app.rb:1"]) }

  def test_an_io_gets_the_entries_of_the_log
    IO.pipe do |reader, writer|
      log(writer).warn("a\nb")
      assert_match(/\A\S+ warn #{Process.pid} - - a\n  b\n\z/, reader.readpartial(1000))
    end
  end

  def test_a_logger_gets_severity_and_text
    written = StringIO.new
    logger = Logger.new(written, level: :warn, formatter: ->(*entry) { entry.values_at(0, 2, 3).inspect })
    log = log(logger)
    log.info("hidden by the logger")
    log.error("GET /", FAULT)
    assert_equal ["ERROR", "bontebok", "GET /: none (KeyError)\n  app.rb:1"].inspect, written.string
  end

  def test_a_callable_gets_level_message_and_exception
    entries = []
    log = log(->(*entry) { entries << entry })
    log.info("a\0b")
    log.write(:error, "c", FAULT)
    assert_equal [[:info, 'a\x00b', nil], [:error, "c", FAULT]], entries
  end

  def test_a_writer_gets_lines
    written = StringIO.new
    log(written).error("c", FAULT)
    assert_equal "bontebok: error: c: none (KeyError)\n  app.rb:1\n", written.string
  end

  def test_nil_gets_nothing
    assert_nil log(nil).error("c", FAULT)
  end

  def test_entries_below_the_level_are_left_out
    written = StringIO.new
    log = log(written, level: "warn")
    log.info("a")
    log.warn("b")
    assert_equal "bontebok: warn: b\n", written.string
  end

  def test_an_exception_of_the_receiver_is_ignored
    assert_nil log(->(*) { raise "fails" }).error("c")
  end

  private

  def log(receiver, level: "info")
    Bontebok::CallersLog.for(receiver, format: "text", level: level)
  end
end
