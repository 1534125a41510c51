# frozen_string_literal: true

require "test_helper"
require "fcntl"
require "json"
require "timeout"
require_relative "../support/log_case"

# Tests the server's log if no process reads the pipe, or if the disk is full.
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

  def test_each_loss_is_told
    count = 0
    @log.on_loss = -> { count += 1 }
    after_loss_of(3)
    assert_equal 3, count
  end

  # The log does not wait again for the lines after the first lost line.
  def test_the_log_waits_once_for_a_reader_that_does_not_read
    waits = []
    @writer.define_singleton_method(:wait_writable) { |seconds| super(seconds).tap { waits << seconds } }
    2.times do
      after_loss_of(5)
      assert_equal 1, waits.count(&:positive?), waits
      waits.clear
    end
  end

  # The pipe may have room for the short line about the losses, but not for the next line.
  def test_the_log_does_not_wait_again_if_the_pipe_has_only_a_little_room
    waits = []
    @writer.define_singleton_method(:wait_writable) { |seconds| super(seconds).tap { waits << seconds } }
    fill_pipe
    @log.info("lost")
    @reader.read(4096) # a page
    Timeout.timeout(60) { 3.times { @log.info("x" * 4000) } }
    assert_equal 1, waits.count(&:positive?), waits
    @reader.read_nonblock(1 << 20)
    @log.info("next")
    assert_match(/\A\S+Z warn \d+ - - log: a line is lost\n\S+Z info \d+ - - next\n\z/, written)
  end

  # Only the parent logs the parent's losses.
  def test_a_forked_process_does_not_log_losses_of_its_parent
    fill_pipe
    @log.info("lost")
    @reader.read_nonblock(1 << 20)
    Process.wait(fork { @log.info("child") })
    assert_match(/\A\S+Z info \d+ - - child\n\z/, written)
    @log.info("parent")
    assert_match(/ log: a line is lost\n.* parent\n\z/, written)
  end

  # The test replaces the full file with a pipe. The log then writes the count of lost lines.
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

  # Each single write is so small that a writable pipe has room for it.
  def test_a_large_entry_is_cut_if_a_pipe_has_no_room_for_it
    @writer.fcntl(Fcntl::F_SETPIPE_SZ, 8192)
    error = StandardError.new("lost")
    error.set_backtrace(Array.new(20) { |i| "#{i}#{"x" * 3000}" })
    Timeout.timeout(60) { @log.error("large", error) }
    assert_match(/large: lost/, @reader.read_nonblock(1 << 20))

    @log.info("next")
    assert_match(/\A\n\S+Z warn \d+ - - log: a line is lost\n\S+Z info \d+ - - next\n\z/, written,
                 "lines of their own")
  end

  private

  # Logs `count` lines while the pipe is full, and one line when the pipe has room. Returns the content of the pipe.
  def after_loss_of(count)
    fill_pipe
    Timeout.timeout(60) { count.times { @log.info("lost") } }
    refute_includes @reader.read_nonblock(1 << 20), "lost"
    @log.info("next")
    written
  end

  def fill_pipe
    nil while @writer.write_nonblock("x" * 4096, exception: false).is_a?(Integer)
  end
end
