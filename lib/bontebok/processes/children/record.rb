# frozen_string_literal: true

require_relative "../../config/hooks"
require_relative "../../system/error_text"

module Bontebok
  class Children
    # Writes the log lines about children that start, are replaced and end. Used by Children for workers, and by
    # Generations for masters.
    class Record
      # numbers: the numbers of all children that must exist. If there is only one number, most log lines leave it out.
      def initialize(name, numbers, log)
        @name = name
        @numbers = numbers
        @size = numbers.size
        @log = log
      end

      def cannot_start(number, exception)
        text = "#{@name} #{number} cannot be started"
        return @log.error("#{text}: #{exception.message}", exception.cause) if exception.is_a?(Hooks::Failed)

        @log.error(text, exception)
      end

      # After this failure no other child is started for some time, so one line is enough for all children.
      def refused(number, error)
        @log.error("#{@name} #{number} cannot be started: the system refuses another process " \
                   "(RLIMIT_NPROC, pids.max): #{ErrorText.of(error)} (EAGAIN)")
      end

      # at_once: the child does not wait until its replacement is ready.
      def replaced(child, at_once)
        say(:info, child, at_once ? "is replaced before it was ready" : "leaves when its replacement is ready")
      end

      def given_up(child, reason) = say(:error, child, "#{reason}: it is stopped")

      def deploy_failed = @log.error("the deploy has failed: the present master continues")

      def kept(child, seconds) = say(:info, child, "stays loaded for #{seconds} s, without workers")

      def cannot_judge(exception) = @log.error("the canary cannot be judged", exception)

      # wholly: true if all threads of the child hang.
      def hangs(child, wholly)
        return say(:warn, child, "hangs in all its threads: it ends within 1 s") if wholly

        say(:warn, child, "hangs in a request: it leaves when its replacement is ready")
      end

      def crowded(count)
        limit = "#{count} #{@name}s hang, #{@numbers.size} more than there must be"
        @log.warn("#{limit}: the next one is started when one of them has ended")
      end

      def left(child) = say(as_told?(child) ? :info : :warn, child, "has left: #{child.ending}")

      def ended(child)
        say(:warn, child, "ended: #{child.ending}, #{child.seconds_ready.round(1)} s after it was ready")
      end

      def lost(child)
        say(:error, child, "has closed its channel: it is replaced, and has #{child.limit} s to end")
      end

      def deserted(child)
        say(:error, child, "has closed its channel before it was ready: it has #{child.limit} s to end")
      end

      def failed(child)
        reason = ": the application has ended it" if child.status&.success?
        say(:warn, child, "ended before it was ready: #{child.ending}#{reason}")
      end

      def killed(child, reason) = say(:error, child, "#{reason}: killed")

      # One line may be for several changes.
      def resized
        return if @size == @numbers.size

        @size = @numbers.size
        @log.info("#{@size} #{@name}#{'s' if @size > 1}")
      end

      private

      def say(level, child, text)
        number = " #{child.number}" if @numbers.size > 1
        @log.write(level, "#{@name}#{number} (pid #{child.pid}) #{text}")
      end

      # True if the child ended as expected: with status 0 or an unknown status, killed by this process, or before it
      # was loaded. A child that is told to end while it loads cannot exit with status 0.
      def as_told?(child)
        child.status.nil? || child.status.success? || child.killed? || !child.reached?(:loaded)
      end
    end
  end
end
