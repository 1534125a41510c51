# frozen_string_literal: true

require "test_helper"
require "minitest/mock"
require_relative "../support/log_case"

# Tests the server's log in text format.
class LogTest < Support::TestCase
  include LogCase

  def test_a_line_has_time_level_process_worker_generation_and_message
    @log.info("hello")
    assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info #{Process.pid} - - hello\n\z/, written)
    @log.generation = 2
    @log.worker = 17
    @log.info("hello")
    assert_match(/Z info #{Process.pid} w17 g2 hello\n\z/, written)
  end

  def test_a_line_has_its_level
    Bontebok::Log::LEVELS.each { |level| @log.public_send(level, "x") }
    assert_equal %w[info warn error], written.scan(/Z (\w+) /).flatten
  end

  def test_entries_below_the_level_are_not_written
    log = Bontebok::Log.new(@writer, level: "warn")
    Bontebok::Log::LEVELS.each { |level| log.public_send(level, "x") }
    assert_equal %w[warn error], written.scan(/Z (\w+) /).flatten
  end

  def test_further_lines_are_indented
    @log.error("one\ntwo\nthree")
    assert_equal ["  two", "  three"], written.lines(chomp: true).drop(1)
  end

  def test_a_reader_that_is_gone_is_no_error
    @reader.close
    assert_silent { @log.info("x") }
    @writer.close
    assert_silent { @log.info("x") }
  end

  def test_a_large_entry_is_written_whole_if_there_is_room
    error = StandardError.new("x")
    error.set_backtrace(Array.new(10) { |i| "#{i}#{"x" * 4000}" })
    @log.error("large", error)
    assert_equal 11, text_of(@reader.readpartial(1 << 20)).size
  end

  def test_entries_of_threads_do_not_mix
    reader = Thread.new { @reader.gets("the end\n") }
    without_losses do
      Array.new(8) { |i| Thread.new { 20.times { @log.info("#{i}\n" * 2000) } } }.each(&:join)
      @log.info("the end")
    end
    entries = reader.value.split(/^\S+Z info \d+ - - /)[1..-2]
    whole = entries.grep(/\A(\d)(\n  \1)*\n  \n\z/)
    assert_equal [160, 160, [2000]], [entries.size, whole.size, whole.map { |entry| entry.count("0-9") }.uniq]
  end

  private

  # While the block runs, the log waits for the reader without a timeout.
  def without_losses(&)
    @writer.define_singleton_method(:wait_writable) { |_| super(Support::Deadline::DEFAULT_SECONDS) }
    @log.instance_variable_get(:@stream).stub(:now, 0, &)
  end
end
