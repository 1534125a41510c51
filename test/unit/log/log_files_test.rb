# frozen_string_literal: true

require "test_helper"
require "bontebok/log/log_files"

# Tests what happens to a standard stream that nobody can read. The integration tests of the logs have the rest.
class LogFilesTest < Support::TestCase
  # Under rackup, the application has printed before the handler is called.
  def test_what_waits_in_a_stream_without_a_reader_is_lost
    former = $stdout
    reader, $stdout = IO.pipe
    reader.close
    $stdout.sync = false
    $stdout.write("before")
    Bontebok::LogFiles.discard_unread
    $stdout.write("after")
    $stdout.flush
    assert_equal File::NULL, File.readlink("/proc/self/fd/#{$stdout.fileno}")
  ensure
    $stdout.close
    $stdout = former
  end

  def test_a_stream_with_a_reader_stays
    former = $stdout
    reader, $stdout = IO.pipe
    Bontebok::LogFiles.discard_unread
    $stdout.write("read")
    $stdout.close
    assert_equal "read", reader.read
  ensure
    $stdout = former
    reader.close
  end
end
