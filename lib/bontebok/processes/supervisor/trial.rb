# frozen_string_literal: true

module Bontebok
  class Supervisor
    # The trial of the program that is to take the supervisor's place: a child of the supervisor executes it. The
    # program reads the state, says :ready and ends.
    class Trial
      # process: the ForkedProcess. report: the DeployReport, with the process's standard error and the client of the
      # command. seconds: the time limit.
      def initialize(process, report, seconds)
        @process = process
        @report = report
        @process.expect(seconds)
      end

      def pid = @process.pid

      def sources
        [*(@process.channel unless @process.deaf?), *@report.sources]
      end

      # The time of the next #verdict.
      def deadline
        @process.deadline if @process.deadline.finite?
      end

      # Called when the supervisor has reaped any process.
      def ended(pid, status)
        @process.ended(status) if @process.pid == pid
      end

      # Returns nil while the trial goes on, true if the program is good, else why it is not.
      def verdict
        @report.take
        @ready ||= !@process.deaf? && @process.hear.include?(:ready)
        @process.check unless @process.ended?
        return @ready || "the new program has ended: #{@process.ending}" if @process.ended?

        "the new program did not become ready within #{@process.limit} s" if @process.overdue?
      end

      # The socket of the command that waits; nil: it has gone.
      def client
        @report.client
      end

      # reason: why the program does not take the supervisor's place. status: the exit status of the command.
      def fail(reason, status)
        @report.take
        @report.finish(status, reason)
        @process.kill unless @process.ended?
        Process.detach(@process.pid)
        @process.channel.close
        @report.close
      end
    end
  end
end
