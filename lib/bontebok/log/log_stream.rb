# frozen_string_literal: true

require "io/wait"
require "socket"

require_relative "../system/no_signal"

module Bontebok
  # The stream that Log writes to: standard error. The server's processes share it with the application and with the
  # program that started the server. A write waits at most for its timeout. Not thread-safe; Log has the lock.
  #
  # Polling a pipe before write(2) is not enough. Two processes may both find the pipe writable; if the first one fills
  # the pipe, the second one blocks in write(2). Setting O_NONBLOCK on the stream is no solution, because the flag
  # belongs to the open file description, which other programs share. Instead, a pipe is opened a second time, with
  # O_NONBLOCK, and each message to a socket has MSG_DONTWAIT. A terminal is only polled before a write. The same holds
  # for a pipe that cannot be opened a second time. It belongs to another user, or there is no /proc.
  class LogStream
    # Maximum size of a write to a pipe or socket, in bytes. A pipe accepts a write of up to this size completely or not
    # at all (pipe(7), PIPE_BUF), so the writes of several processes do not mix. A file accepts a write of any size
    # completely.
    PIECE_BYTES = 4096

    # Opens the pipe now, because after a change of user the process may lack the permission to open it. If a caller of
    # CLI has replaced $stderr by an object that is no IO, only #write raises (NoMethodError).
    def initialize(stream)
      @stream = stream
      @cut = false
      follow if stream.is_a?(IO)
    rescue SystemCallError, IOError
      nil # every write will fail, too
    end

    # Waits at most `timeout` seconds. Returns true if the whole text was written; false after the timeout, or after an
    # error such as EPIPE. If only a part was written, the next text begins on a new line.
    def write(text, timeout)
      text = "\n#{text}" if @cut
      done = 0
      deadline = now + timeout
      follow
      while done < text.bytesize
        taken = push(text.byteslice(done, @file ? text.bytesize : PIECE_BYTES), deadline) or return false
        done += taken
      end
      true
    rescue SystemCallError, IOError
      false
    ensure
      @cut = done < text.bytesize && (@cut || done.positive?)
    end

    # Writes a text that nobody waits for, and closes the handle again.
    def write_once(text)
      write(text, 0)
    ensure
      disown
    end

    # If standard error was reopened, closes the handle to the former file and opens a new one.
    def follow
      stat = @stream.stat
      return if @identity == (identity = [stat.dev, stat.ino])

      @own&.close
      @own = own(stat)
      @file = stat.file?
      @identity = identity
    end

    # Called in a process that the application has forked. Closes the second handle of the pipe. If a daemon of the
    # application kept this handle, the reader of the pipe would get no end-of-file when the server ends. Standard error
    # stays open. The next write opens a second handle again.
    def disown
      @own.close if @own.is_a?(File)
      @own = @identity = nil
    end

    private

    # Returns a handle for writes that do not block, or nil.
    def own(stat)
      if stat.pipe?
        File.open("/proc/self/fd/#{@stream.fileno}", File::WRONLY | File::NONBLOCK)
      elsif stat.socket?
        BasicSocket.for_fd(@stream.fileno).tap { |socket| socket.autoclose = false }
      end
    rescue SystemCallError
      nil
    end

    # Returns the number of bytes that were written, or nil if the deadline has passed.
    def push(piece, deadline)
      loop do
        taken = offer(piece)
        return taken if taken.is_a?(Integer)

        left = deadline - now
        return unless left.positive? && @stream.wait_writable(left)
      end
    end

    def offer(piece)
      case @own
      when File then @own.write_nonblock(piece, exception: false)
      when BasicSocket then @own.sendmsg_nonblock(piece, NoSignal::FLAG, exception: false)
      else (@file || @stream.wait_writable(0)) && @stream.syswrite(piece)
      end
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
