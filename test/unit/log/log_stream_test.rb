# frozen_string_literal: true

require "test_helper"
require "io/nonblock"
require "socket"
require "timeout"
require "bontebok/log/log_stream"

# Tests writes to blocking pipes and sockets, such as the server's standard error. A write waits at most for its
# timeout.
class LogStreamTest < Support::TestCase
  TIMEOUT = 0.01

  def teardown
    @opened.to_a.each(&:close)
  end

  # Another process can fill the pipe between the poll and the write.
  def test_a_write_does_not_block_if_the_room_is_gone
    [pipe, socket_pair].each do |_, writer|
      stream = Bontebok::LogStream.new(writer)
      fill(writer)
      writer.define_singleton_method(:wait_writable) { |*| self }
      refute Timeout.timeout(60) { stream.write("x", TIMEOUT) }
    end
  end

  def test_the_stream_stays_blocking_for_other_processes
    [pipe, socket_pair].each do |_, writer|
      Bontebok::LogStream.new(writer).write("x", TIMEOUT)
      refute_predicate writer, :nonblock?
    end
  end

  def test_a_write_waits_for_room_within_its_timeout
    [pipe, socket_pair].each do |reader, writer|
      fill(writer)
      waited = false
      writer.define_singleton_method(:wait_writable) do |seconds|
        reader.read_nonblock(1 << 20) && waited = true if seconds.positive?
        super(seconds)
      end
      assert Bontebok::LogStream.new(writer).write("x", 10)
      assert waited
    end
  end

  # If the pipe belongs to another user, the server cannot open it again.
  def test_a_pipe_that_cannot_be_opened_again_is_still_written_to
    reader, writer = pipe
    writer.define_singleton_method(:fileno) { 999_999 }
    stream = Bontebok::LogStream.new(writer)
    writer.singleton_class.remove_method(:fileno)
    assert stream.write("x", TIMEOUT)
    assert_equal "x", reader.readpartial(10)

    fill(writer)
    refute Timeout.timeout(60) { stream.write("x", TIMEOUT) }
  end

  def test_a_text_larger_than_the_pipe_is_written_whole
    [pipe, socket_pair].each do |reader, writer|
      text = Array.new(100_000, &:to_s).join("\u00e4")
      read = Thread.new { reader.read(text.bytesize) }
      assert Bontebok::LogStream.new(writer).write(text, 10)
      assert_equal text.b, read.value
    end
  end

  def test_a_text_after_an_incomplete_text_begins_on_a_new_line
    [pipe, socket_pair].each do |reader, writer|
      stream = Bontebok::LogStream.new(writer)
      refute stream.write("cut" * 1_000_000, TIMEOUT)
      refute stream.write("lost\n", 0)
      assert_match(/\A(cut)+\w*\z/, take(reader))
      assert stream.write("next\n", 0)
      assert stream.write("last\n", 0)
      assert_equal "\nnext\nlast\n", take(reader)
    end
  end

  def test_no_empty_line_follows_a_text_that_is_lost_whole
    [pipe, socket_pair].each do |reader, writer|
      stream = Bontebok::LogStream.new(writer)
      fill(writer)
      refute stream.write("lost\n", TIMEOUT)
      take(reader)
      assert stream.write("next\n", 0)
      assert_equal "next\n", take(reader)
    end
  end

  def test_a_write_follows_a_stream_that_is_reopened
    first_reader, writer = pipe
    stream = Bontebok::LogStream.new(writer)
    targets = [socket_pair, pipe, socket_pair]
    targets.map(&:last).each do |target|
      writer.reopen(target)
      assert stream.write("x", TIMEOUT)
    end
    assert_equal(%w[x x x], targets.map { |reader, _| reader.readpartial(10) })
    # The write end of the first pipe is closed.
    assert_nil first_reader.read(1)
  end

  def test_a_file_gets_the_whole_text_in_one_write
    path = temp_file("log", "")
    writer = open_for_test(File.open(path, "a"))
    writes = []
    writer.define_singleton_method(:syswrite) { |text| super(text).tap { |taken| writes << taken } }
    assert Bontebok::LogStream.new(writer).write("x" * 10_000, TIMEOUT)
    assert_equal [10_000, [10_000]], [File.size(path), writes], "other processes write as well"
  end

  def test_a_write_to_a_stream_that_is_gone_returns_false
    reader, writer = pipe
    stream = Bontebok::LogStream.new(writer)
    reader.close
    refute stream.write("x", TIMEOUT)
    refute Bontebok::LogStream.new(writer).write("x", TIMEOUT), "there was nobody from the beginning"
    writer.close
    refute stream.write("x", TIMEOUT)
    refute Bontebok::LogStream.new(writer).write("x", TIMEOUT)
    refute Bontebok::LogStream.new(open_for_test(File.open("/dev/full", "w"))).write("x", TIMEOUT)
  end

  private

  def pipe
    IO.pipe.each { |io| open_for_test(io) }.tap { |_, writer| writer.nonblock = false }
  end

  # Like standard error, the writer is an IO and not a Socket.
  def socket_pair
    reader, socket = Socket.pair(:UNIX, :STREAM).each { |io| open_for_test(io) }
    socket.nonblock = false
    [reader, open_for_test(IO.for_fd(socket.fileno, "w", autoclose: false))]
  end

  def open_for_test(stream)
    (@opened ||= []).push(stream).last
  end

  # Writes pages of 4096 bytes until the stream is full.
  def fill(writer)
    File.open("/proc/self/fd/#{writer.fileno}", File::WRONLY | File::NONBLOCK) do |other|
      nil while other.write_nonblock("x" * 4096, exception: false).is_a?(Integer)
    end
  rescue Errno::ENXIO
    socket = BasicSocket.for_fd(writer.fileno).tap { |io| io.autoclose = false }
    nil while socket.sendmsg_nonblock("x" * 4096, exception: false).is_a?(Integer)
  end

  def take(reader)
    text = +""
    while (bytes = reader.read_nonblock(1 << 20, exception: false)).is_a?(String)
      text << bytes
    end
    text
  end
end
