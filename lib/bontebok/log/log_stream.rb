# frozen_string_literal: true

require "io/wait"
require "socket"

module Bontebok
  # The stream that Log writes to: standard error. The server's processes share it with the application and with the
  # program that started the server. A write waits only as long as its caller permits. Not for several threads at once:
  # Log has the lock.
  #
  # It is not enough to poll a pipe and then to write. If two processes poll, both learn that the pipe is writable. The
  # first one fills the pipe, and the second one blocks in write(2). O_NONBLOCK belongs to the open file description, so
  # to set it would change the stream of every process that shares the description. So a pipe is opened once more, with
  # O_NONBLOCK, and a socket gets MSG_DONTWAIT with each message. A file or a terminal is polled before a write. A pipe
  # is polled, too, if it cannot be opened once more, because it belongs to another user or there is no /proc.
  class LogStream
    # Bytes. A pipe takes a write of up to this size whole or not at all (pipe(7), PIPE_BUF), so the writes of several
    # processes do not mix. A file takes a write of any size whole.
    PIECE_BYTES = 4096

    # Opens the pipe at once: after a change of user, the process may not be permitted to open it. `stream` may be no
    # IO, if a caller of CLI has replaced $stderr. This raises only when something is logged.
    def initialize(stream)
      @stream = stream
      @cut = false
      follow if stream.is_a?(IO)
    rescue SystemCallError, IOError
      nil # every write will fail, too
    end

    # Waits for `timeout` seconds at most. Returns whether the whole text was written; false also after an error, such
    # as a reader that is gone. If only a part was written, the next text begins on a new line.
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

    # LogFiles or the application may have reopened standard error. If so, this closes the handle to the former file.
    def follow
      stat = @stream.stat
      return if @identity == (identity = [stat.dev, stat.ino])

      @own&.close
      @own = own(stat)
      @file = stat.file?
      @identity = identity
    end

    # For a process that the application has forked. The reader of the pipe must get end-of-file when the server's
    # processes have ended. So the forked process closes the handle that was opened once more. Its standard error stays
    # open. The next write opens a handle again.
    def disown
      @own.close if @own.is_a?(File)
      @own = @identity = nil
    end

    private

    # A handle that can be written to without blocking; nil: there is none.
    def own(stat)
      if stat.pipe?
        File.open("/proc/self/fd/#{@stream.fileno}", File::WRONLY | File::NONBLOCK)
      elsif stat.socket?
        BasicSocket.for_fd(@stream.fileno).tap { |socket| socket.autoclose = false }
      end
    rescue SystemCallError
      nil
    end

    # Returns how many bytes were taken; nil: none before the deadline.
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
      when BasicSocket then @own.sendmsg_nonblock(piece, exception: false)
      else @stream.wait_writable(0) && @stream.syswrite(piece)
      end
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
