# frozen_string_literal: true

require_relative "start_error"

module Bontebok
  # What a start that fails has to say, in at most three lines, for everything that starts a server: the executable, and
  # the handler of rackup and rails server.
  module StartFailure
    LINES = 3
    # Ctrl-C before anybody handles signals, while the configuration file is read for example: whoever typed it knows
    # what happened, and wants no backtrace. As shells have it, 128 and the signal's number.
    INTERRUPTED = 130

    class << self
      # Returns the exit status: the block's, or that of what it raised.
      def told
        yield.tap { |status| point_to_log unless status.zero? }
      rescue StartError => e
        complain(e.message)
        e.exit_status
      rescue SystemCallError => e
        complain(e.message)
        1
      rescue Interrupt
        INTERRUPTED
      end

      # The block makes standard error a file, the log. Whoever started us looks elsewhere, and is told as well until
      # the server is ready.
      def keep_starter(log)
        starter = $stderr.dup
        yield
        return starter.close if File.identical?(starter, $stderr)

        @log = log
        @starter = starter
      end

      # The server is ready; or this process has no part in its start.
      def close
        @starter&.close
        @starter = nil
      end
      alias disown close

      private

      def point_to_log
        write(@starter, "the start failed: #{@log} says why") if @starter
      end

      def complain(message)
        [$stderr, @starter].compact.each { |stream| write(stream, message) }
      end

      # Kernel#warn is silent under ruby -W0. When nobody is there to be told, the exit status still says it. What was
      # typed may be of many lines.
      def write(stream, message)
        stream.write("bontebok: #{message.b.lines(chomp: true).first(LINES).join("\n")}\n")
      rescue SystemCallError, IOError
        nil
      end
    end
  end
end
