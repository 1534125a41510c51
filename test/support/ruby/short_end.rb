# frozen_string_literal: true

module Support
  # Ends a process that a test forks without the finalizers of the objects that it has inherited. They take longer than
  # most of these processes live, and a signal that comes meanwhile prints a backtrace.
  module ShortEnd
    @tests = Process.pid

    class << self
      # Called before any other exit handler is set. So this one runs last.
      def begin
        at_exit { leave($!) unless Process.pid == @tests } # rubocop:disable Style/SpecialGlobalVars
      end

      private

      # error: why the process ends. Ruby itself reports an exception.
      def leave(error)
        case error
        when nil, SystemExit
          [$stdout, $stderr].each(&:flush)
          exit!(error ? error.status : 0)
        when SignalException
          Signal.trap(error.signo, "SYSTEM_DEFAULT")
          Process.kill(error.signo, Process.pid)
        end
      end
    end
  end
end
