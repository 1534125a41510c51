# frozen_string_literal: true

module Bontebok
  class Supervisor
    # The children of the supervisor. The kernel also makes it the parent of processes without a parent: workers of a
    # dead master (AdoptedWorkers), or daemons of the application.
    class Orphans
      # masters: the Generations. reaps: false: only the masters are waited for, by themselves. Under rackup, a wait for
      # any child could reap a child that the application waits for.
      def initialize(adopted, masters, replacement, commands:, stop:, reaps:)
        @adopted = adopted
        @masters = masters
        @replacement = replacement
        @stop = stop
        commands.on("CHLD") { reap } if reaps
      end

      # Workers that are adopted serve until all workers of the next master are ready.
      def tick
        @adopted.kill_late_ones
        @adopted.keep(@masters.whole? ? 0 : @masters.workers) unless @stop.ends?
      end

      def deadline = @adopted.deadline

      private

      # Reaps all ended children, perhaps also a master.
      def reap
        while (pid, status = Process.wait2(-1, Process::WNOHANG))
          [@masters, @adopted, @replacement].each { |part| part.ended(pid, status) }
        end
      rescue Errno::ECHILD
        nil
      end
    end
  end
end
