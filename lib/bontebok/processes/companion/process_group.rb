# frozen_string_literal: true

require "io/nonblock"

require_relative "../../system/fork_guard"
require_relative "../../system/main_thread"
require_relative "../../system/quiet_signals"
require_relative "../forked_process"
require_relative "../life_line"

module Bontebok
  class Companion
    # A forked process with a process group of its own, and the processes that it forks. Used by Companion. They end
    # with the process that has forked the first one, also if that one is killed (Core.end_with).
    class ProcessGroup
      # A process that the leader forks may get TERM before it has handlers of its own. The leader's handlers, which it
      # has inherited, would take the signal, and the process would run on. So it gets signals only when it has the
      # default handlers.
      module Hook
        def _fork
          return super unless ProcessGroup.leads?

          begin
            Core.block_signals(*NUMBERS)
            super
          ensure
            Core.unblock_signals(*NUMBERS)
          end
        end
      end
      SIGNALS = %w[TERM INT QUIT].freeze
      NUMBERS = Signal.list.values_at(*SIGNALS).freeze
      private_constant :Hook, :SIGNALS, :NUMBERS

      # leader: the pid of the first process, and the number of the group. ending: how the leader has ended, in the
      # words of the log; nil: it runs.
      attr_reader :leader, :ending

      class << self
        # The new process closes to_close and what ForkGuard names, has the signals of a process that was just executed,
        # and runs the block. Its exit status is the block's result. seconds: from TERM to KILL, if this process has
        # ended. Raises SystemCallError if the fork fails.
        def fork(title, seconds:, to_close: [])
          require "bontebok/bontebok"
          Core.check_fork
          life_line = LifeLine.new
          pid = Process.fork do
            life_line.close
            life_line.to_io.nonblock = false # for Core.end_with
            lead(title, life_line, seconds, to_close)
            MainThread.unguard { exit(yield) }
          end
          new(pid, life_line)
        rescue SystemCallError
          life_line&.disown
          raise
        end

        # True in a leader.
        def leads? = @leader == Process.pid

        private

        def lead(title, life_line, seconds, to_close)
          Process.setpgid(0, 0)
          end_with(life_line, seconds)
          @leader = Process.pid
          ForkGuard.install { follow(life_line, seconds) }
          Process.singleton_class.prepend(Hook)
          to_close.each(&:close)
          %w[TERM QUIT].each { |signal| Signal.trap(signal, "DEFAULT") }
          QuietSignals.disown
          Process.setproctitle(title)
        end

        # Runs in a process that the leader has forked.
        def follow(life_line, seconds)
          SIGNALS.each { |signal| Signal.trap(signal, "SYSTEM_DEFAULT") }
          end_with(life_line, seconds)
        end

        # A process that would not end with the master must not begin.
        def end_with(life_line, seconds)
          Core.end_with(life_line.to_io.fileno, seconds.ceil)
        rescue SystemCallError
          exit!(1)
        end
      end

      # life_line: both ends.
      def initialize(leader, life_line)
        @leader = leader
        @life_line = life_line
        Process.setpgid(leader, leader) # so that #signal finds the group from now on
      rescue SystemCallError
        nil # the leader has ended, or has done it
      end

      # Sends a signal to the leader alone, which knows what the others do.
      def tell(name)
        send_signal(name, @leader) unless @ending
      end

      # Sends a signal to all of them. The number cannot belong to another group as long as this one has a process.
      def signal(name)
        send_signal(name, -@leader)
      end

      # Reaps the leader if it has ended. Returns #ending.
      def check
        _, status = Process.wait2(@leader, Process::WNOHANG)
        @ending = ForkedProcess.ending(status) if status
      rescue Errno::ECHILD
        @ending = "unknown status" # the application has reaped it
      end

      # True if the leader has ended, and no process is left, or only some that nobody has reaped yet.
      def gone? = !@ending.nil? && !signal(0)

      # Called in a forked process, and when the group has gone.
      def close = @life_line.disown

      private

      # Returns whether there is such a process.
      def send_signal(name, pid)
        Process.kill(name, pid).positive?
      rescue Errno::ESRCH, Errno::EPERM
        false
      end
    end
  end
end
