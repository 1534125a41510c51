# frozen_string_literal: true

require "io/wait"

require_relative "start_error"
require_relative "system/clock"
require_relative "system/encodings/output"

module Bontebok
  # Reports why a start has failed, in at most three lines for each fault. Used by CLI and RackHandler.
  module StartFailure
    LINES = 3
    # The most bytes of a line.
    WIDTH = 1000
    # Seconds that a stream may take to become writable, for all messages together. After that, messages are lost,
    # because a service manager may wait for the end of the process.
    PATIENCE = 2
    # The exit status if Ctrl-C ends the start before the server handles signals, for example while the configuration
    # file is read. No backtrace is shown. As in shells, the status is 128 plus the signal's number.
    INTERRUPTED = 130

    class << self
      # Returns the exit status: the block's result, or the status of the error that the block raised.
      def told
        yield.tap { |status| point_to_log unless status.zero? }
      rescue StartError => e
        e.messages.each { |message| complain(message) }
        e.exit_status
      rescue SystemCallError => e
        complain(e.message)
        1
      rescue Interrupt
        INTERRUPTED
      end

      # Runs the block, which redirects standard error to the log file. Until the server is ready, errors are also
      # written to the former standard error, where the user looks. A terminal also shows where the log is. Returns the
      # former standard error; nil: it is the log file.
      def keep_starter(log)
        starter = $stderr.dup
        yield
        return starter.close if File.identical?(starter, $stderr)

        @log = log
        write(starter, "the log is #{log}") if starter.tty?
        @starter = starter
      end

      # Errors are also written to this IO, until #close.
      def also_tell(starter)
        @starter = starter
      end

      # Closes the former standard error. Called when the server is ready, and in a forked process that takes no part in
      # the start.
      def close
        @starter&.close
        @starter = nil
      end
      alias disown close

      def complain(message)
        [$stderr, @starter].compact.each { |stream| write(stream, message) }
      end

      private

      def point_to_log
        write(@starter, "the start failed: #{@log} says why") if @starter && @log
      end

      # Does not use Kernel#warn, which is silent under ruby -W0. If the stream cannot be written to, the exit status
      # still shows the failure. The message is cut, because it may quote an argument or a variable of any length.
      def write(stream, message)
        return if stream.is_a?(IO) && !writable?(stream)

        lines = message.b.lines(chomp: true).first(LINES).map { |line| line.byteslice(0, WIDTH) }
        Output.write(stream, "bontebok: #{lines.join("\n")}\n")
      rescue SystemCallError, IOError
        nil
      end

      def writable?(stream)
        @give_up ||= Clock.now + PATIENCE
        stream.wait_writable([@give_up - Clock.now, 0].max)
      end
    end
  end
end
