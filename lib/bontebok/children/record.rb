# frozen_string_literal: true

require_relative "../hooks"

module Bontebok
  class Children
    # What the log says of Children's coming and going.
    class Record
      # numbers: of all children there must be; a single one is called by its name alone.
      def initialize(name, numbers, log)
        @name = name
        @numbers = numbers
        @log = log
      end

      def cannot_start(number, exception)
        text = "#{@name} #{number} cannot be started"
        return @log.error("#{text}: #{exception.message}", exception.cause) if exception.is_a?(Hooks::Failed)

        @log.error(text, exception)
      end

      def leaves(child)
        @log.info("#{describe(child)} leaves when its replacement is ready")
      end

      def left(child)
        @log.write(as_told?(child) ? :info : :warn, "#{describe(child)} has left: #{child.ending}")
      end

      def ended(child)
        @log.warn("#{describe(child)} ended: #{child.ending}, #{child.seconds_ready.round(1)} s after it was ready")
      end

      def failed(child)
        @log.warn("#{describe(child)} ended before it was ready: #{child.ending}")
      end

      def killed(child, reason)
        @log.error("#{describe(child)} #{reason}: killed")
      end

      def resized
        @log.info("#{@numbers.size} #{@name}#{'s' if @numbers.size > 1}")
      end

      private

      # By itself, or by a signal of ours: TERM while it loads, KILL when its time is over.
      def as_told?(child)
        status = child.status
        status.nil? || status.success? || [Signal.list["TERM"], Signal.list["KILL"]].include?(status.termsig)
      end

      def describe(child)
        number = " #{child.number}" if @numbers.size > 1
        "#{@name}#{number} (pid #{child.pid})"
      end
    end
  end
end
