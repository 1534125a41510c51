# frozen_string_literal: true

require "io/wait"

require_relative "../../system/clock"

module Bontebok
  # Calls a block at each interval, until a signal ends the command (Ctrl-C). A change of the terminal's size, and the
  # continuation after Ctrl-Z, call it at once.
  module Intervals
    ENDS = %w[INT TERM HUP].freeze
    # Not every system has them.
    AGAIN = %w[WINCH CONT].freeze & Signal.list.keys
    private_constant :ENDS, :AGAIN

    class << self
      # again: called before the block, after one of AGAIN.
      def each(interval, again)
        reader, writer = IO.pipe
        former = [*ENDS, *AGAIN].to_h { |name| [name, trap(name, writer)] }
        due = Clock.now
        loop do
          yield
          due = [due + interval, Clock.now].max if Clock.now >= due
          next unless reader.wait_readable([due - Clock.now, 0].max)
          return if reader.read_nonblock(100).include?("E")

          again.call
        end
      ensure
        former&.each { |name, handler| Signal.trap(name, handler || "DEFAULT") }
        [reader, writer].compact.each(&:close)
      end

      private

      # Returns the former handler. A signal that is ignored stays ignored: HUP under nohup, INT for a job that a script
      # has started in the background.
      def trap(name, writer)
        former = Signal.trap(name) { writer.write_nonblock(ENDS.include?(name) ? "E" : "A", exception: false) }
        Signal.trap(name, former) if former == "IGNORE"
        former
      end
    end
  end
end
