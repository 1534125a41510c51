# frozen_string_literal: true

require "io/wait"

module Bontebok
  # Calls a block at each interval, until a signal ends the command (Ctrl-C). A change of the terminal's size, and the
  # continuation after Ctrl-Z, call it at once.
  class Intervals
    ENDS = %w[INT TERM HUP].freeze
    # Not every system has them.
    AGAIN = %w[WINCH CONT].freeze & Signal.list.keys
    private_constant :ENDS, :AGAIN

    # again: called before the block, after one of AGAIN.
    def self.each(interval, again, &block)
      reader, writer = IO.pipe
      former = [*ENDS, *AGAIN].to_h { |name| [name, trap(name, writer)] }
      new(reader, interval, again).each(&block)
    ensure
      former&.each { |name, handler| Signal.trap(name, handler || "DEFAULT") }
      [reader, writer].compact.each(&:close)
    end

    # Returns the former handler. A signal that is ignored stays ignored: HUP under nohup, INT for a job that a script
    # has started in the background.
    def self.trap(name, writer)
      former = Signal.trap(name) { writer.write_nonblock(ENDS.include?(name) ? "E" : "A", exception: false) }
      Signal.trap(name, former) if former == "IGNORE"
      former
    end
    private_class_method :trap

    def initialize(reader, interval, again)
      @reader = reader
      @interval = interval
      @again = again
    end

    def each
      due = now
      loop do
        yield
        due = [due + @interval, now].max if now >= due
        return if pause(due) == :end
      end
    end

    private

    # Returns :end if the command must end.
    def pause(due)
      return unless @reader.wait_readable([due - now, 0].max)

      return :end if @reader.read_nonblock(100).include?("E")

      @again.call
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
