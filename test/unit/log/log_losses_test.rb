# frozen_string_literal: true

require "test_helper"
require "fcntl"
require "json"
require "timeout"
require_relative "../support/log_case"

# The server's own log when nobody reads it, or when its disk is full.
class LogLossesTest < Support::TestCase
  include LogCase

  def test_lines_for_which_a_pipe_has_no_room_are_counted
    { 1 => "a line is lost", 3 => "a line is lost, and 2 more like it" }.each do |count, said|
      assert_match(/\A\S+Z warn #{Process.pid} - - log: #{said}\n\S+Z info #{Process.pid} - - next\n\z/,
                   after_loss_of(count))
    end
    @log.info("last")
    assert_match(/\A\S+Z info #{Process.pid} - - last\n\z/, written)
  end

  # The log waits once, however many lines follow.
  def test_a_reader_that_has_stopped_is_waited_for_once
    waits = []
    @writer.define_singleton_method(:wait_writable) { |seconds| super(seconds).tap { waits << seconds } }
    2.times do
      after_loss_of(5)
      assert_equal 1, waits.count(&:positive?), waits
      waits.clear
    end
  end

  # The line about the losses is short: the pipe may have room for this line and not for the next one.
  def test_a_reader_that_has_stopped_is_not_waited_for_again_when_there_is_a_little_room
    waits = []
    @writer.define_singleton_method(:wait_writable) { |seconds| super(seconds).tap { waits << seconds } }
    fill_pipe
    @log.info("lost")
    @reader.read(4096) # a page
    Timeout.timeout(10) { 3.times { @log.info("x" * 4000) } }
    assert_equal 1, waits.count(&:positive?), waits
    @reader.read_nonblock(1 << 20)
    @log.info("next")
    assert_match(/\A\S+Z warn \d+ - - log: a line is lost\n\S+Z info \d+ - - next\n\z/, written)
  end

  # The parent logs its own losses.
  def test_a_forked_process_does_not_log_losses_of_its_parent
    fill_pipe
    @log.info("lost")
    @reader.read_nonblock(1 << 20)
    Process.wait(fork { @log.info("child") })
    assert_match(/\A\S+Z info \d+ - - child\n\z/, written)
    @log.info("parent")
    assert_match(/ log: a line is lost\n.* parent\n\z/, written)
  end

  # They are counted until there is room: here, another file takes the place of the full one.
  def test_lines_for_which_a_disk_has_no_room_are_counted
    File.open("/dev/full", "w") do |file|
      log = Bontebok::Log.new(file, format: "json")
      2.times { log.info("lost") }
      file.reopen(@writer)
      log.info("next")
      messages = written.lines.map { |line| JSON.parse(line)["message"] }
      assert_equal ["log: a line is lost, and 1 more like it", "next"], messages
    end
  end

  # Each single write is small enough for any pipe that is writable.
  def test_a_large_entry_is_cut_if_a_pipe_has_no_room_for_it
    @writer.fcntl(Fcntl::F_SETPIPE_SZ, 8192)
    error = StandardError.new("lost")
    error.set_backtrace(Array.new(20) { |i| "#{i}#{"x" * 3000}" })
    Timeout.timeout(10) { @log.error("large", error) }
    assert_match(/large: lost/, @reader.read_nonblock(1 << 20))

    @log.info("next")
    assert_match(/\A\n\S+Z warn \d+ - - log: a line is lost\n\S+Z info \d+ - - next\n\z/, written,
                 "lines of their own")
  end

  private

  # Logs `count` lines without room and one line with room. Returns the content of the pipe.
  def after_loss_of(count)
    fill_pipe
    Timeout.timeout(10) { count.times { @log.info("lost") } }
    refute_includes @reader.read_nonblock(1 << 20), "lost"
    @log.info("next")
    written
  end

  def fill_pipe
    @writer.syswrite("x" * 4096) while @writer.wait_writable(0)
  end
end
