# frozen_string_literal: true

require_relative "process_group"

module Bontebok
  class Companion
    # The work of a Companion: the jobs of Solid Queue, which run as with the plugin of puma in its gem.
    module Jobs
      MISSING = "no jobs run: the application has not loaded solid_queue, which SOLID_QUEUE_IN_PUMA or the plugin " \
                "solid_queue wants"
      # Seconds that the processes get in addition to the time of their jobs: to note that they end, and to return
      # unfinished jobs to the queue.
      MARGIN = 5

      class << self
        # Why the jobs cannot run; nil: they can. The application must be loaded.
        def fault = (MISSING unless Object.const_defined?(:SolidQueue))

        # Seconds from TERM to KILL.
        def seconds
          ::SolidQueue.shutdown_timeout.to_f + MARGIN
        end

        # Returns the new ProcessGroup. Raises SystemCallError if the fork fails.
        def start(to_close)
          ProcessGroup.fork("bontebok jobs", seconds: seconds, to_close: to_close) { run }
        end

        private

        # Runs Solid Queue's supervisor until it is told to end. It forks the processes that run jobs, and sets its own
        # handlers of signals. The exit handlers are left out, as in the plugin: a thread that was ended within a query
        # can hold a lock for which they would wait.
        def run
          ::SolidQueue::Supervisor.start
          [$stdout, $stderr].each(&:flush)
          exit!(0)
        end
      end
    end
  end
end
