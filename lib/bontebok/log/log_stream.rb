# frozen_string_literal: true

require "io/wait"
require "socket"

module Bontebok
  # Where Log writes to: standard error, which the server shares with whoever started it, with its own processes and
  # with the application. No write waits for a reader longer than it is told to. Log has the lock.
  #
  # To ask whether a pipe is writable and then to write is not enough: every process that asks is told so, the first one
  # takes the room, and the next one sleeps in write(2). O_NONBLOCK on the description that we were given would be felt
  # by all who share it. So a pipe is opened once more, and a socket is told with each message (MSG_DONTWAIT). What is
  # neither, a file or a terminal, is asked first; so is a pipe that may not be opened: it belongs to somebody else, or
  # there is no /proc.
  class LogStream
    # A pipe takes so many bytes whole or not at all (pipe(7), PIPE_BUF): what processes write does not mix. A file
    # takes any number of them so.
    PIECE_BYTES = 4096

    # Follows the stream at once: after a change of user the pipe might not be ours to open. What a caller of CLI has
    # put in the place of $stderr may be no IO, which is a fault only when there is something to log.
    def initialize(stream)
      @stream = stream
      @cut = false
      follow if stream.is_a?(IO)
    rescue SystemCallError, IOError
      nil # so will every write
    end

    # Waits so many seconds at most. Returns whether the whole text was written; a stream that is gone takes nothing. If
    # a part was, the next text begins a line of its own.
    def write(text, patience)
      text = "\n#{text}" if @cut
      done = 0
      deadline = now + patience
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

    # Standard error may have been reopened, by LogFiles or the application: what it was is let go of.
    def follow
      stat = @stream.stat
      return if @identity == (identity = [stat.dev, stat.ino])

      @own&.close
      @own = own(stat)
      @file = stat.file?
      @identity = identity
    end

    # In a process that the application has forked: a pipe's reader is to see its end when the server's processes have
    # ended, and that one keeps standard error open only if it wants to. The next write follows the stream again.
    def disown
      @own.close if @own.is_a?(File)
      @own = @identity = nil
    end

    private

    # What can be written to without blocking; nil: nothing can.
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
