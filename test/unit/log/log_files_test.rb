# frozen_string_literal: true

require "minitest/mock"
require "test_helper"
require "bontebok/log/log_files"

# Tests what happens to a standard stream that nobody can read. The integration tests of the logs have the rest.
class LogFilesTest < Support::TestCase
  # Under rackup, the application has printed before the handler is called.
  def test_what_waits_in_a_stream_without_a_reader_is_lost
    reader, writer = IO.pipe
    reader.close
    writer.sync = false
    writer.write("before")
    discard_unread(writer)
    writer.write("after")
    writer.flush
    assert_equal File::NULL, File.readlink("/proc/self/fd/#{writer.fileno}")
    writer.close
  end

  # While an interrupt of Ruby is pending, a wait without time finds nothing.
  def test_a_stream_without_a_reader_is_found_while_a_signal_is_pending
    reader, writer = IO.pipe
    reader.close
    select = IO.method(:select)
    IO.stub(:select, ->(*given) { select.call(*given) unless given[3]&.zero? }) { discard_unread(writer) }
    assert_equal File::NULL, File.readlink("/proc/self/fd/#{writer.fileno}")
  ensure
    writer.close
  end

  def test_a_stream_with_a_reader_stays
    reader, writer = IO.pipe
    discard_unread(writer)
    writer.write("read")
    writer.close
    assert_equal "read", reader.read
  ensure
    reader.close
  end

  private

  def discard_unread(stream)
    former = $stdout
    $stdout = stream
    Bontebok::LogFiles.discard_unread
  ensure
    $stdout = former
  end
end
