# frozen_string_literal: true

module Bontebok
  class Supervisor
    # The trial of the program that is to take the supervisor's place: a child of the supervisor executes it. The
    # program reads the state, says :ready and ends.
    class Trial
      # child: the Child. report: the DeployReport, with the child's standard error and the client of the command.
      # seconds: the time limit.
      def initialize(child, report, seconds)
        @child = child
        @report = report
        @child.expect(seconds)
      end

      def pid = @child.pid

      def sources
        [*(@child.channel unless @child.deaf?), *@report.source]
      end

      # The time of the next #verdict.
      def deadline
        @child.deadline if @child.deadline.finite?
      end

      # Called when the supervisor has reaped any process.
      def ended(pid, status)
        @child.ended(status) if @child.pid == pid
      end

      # Returns nil while the trial goes on, true if the program is good, else why it is not.
      def verdict
        @report.take(copy: true)
        @ready ||= !@child.deaf? && @child.hear.include?(:ready)
        @child.check unless @child.ended?
        return @ready || "the new program has ended: #{@child.ending}" if @child.ended?

        "the new program #{@child.omission}" if @child.overdue?
      end

      # The socket of the command that waits; nil: it has gone.
      def client
        @report.client
      end

      # reason: why the program does not take the supervisor's place. status: the exit status of the command.
      def fail(reason, status)
        @report.take(copy: true)
        @report.finish(status, reason)
        @child.kill unless @child.ended?
        Process.detach(@child.pid)
        close
      end

      # Closes the descriptors. Called in a forked process, too.
      def close
        @child.channel.close
        @report.close
      end
    end
  end
end
