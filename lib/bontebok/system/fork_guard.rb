# frozen_string_literal: true

module Bontebok
  # Closes the server's descriptors in a process that the application forks. The forked process may outlive the server.
  # With copies of the listeners, it would hold connections that nobody serves, and the next server could not bind the
  # port. With copies of channels and of the LifeLine, the server's processes would not notice that their parent has
  # died. Commands that are executed have none of these descriptors (close-on-exec).
  module ForkGuard
    # Wraps Process._fork, which every fork of Ruby calls.
    module Hook
      def _fork
        super.tap { |pid| ForkGuard.act if pid.zero? }
      end
    end
    private_constant :Hook

    class << self
      # Runs the block once in every process that is forked after this call, instead of the block of an earlier call.
      def install(&action)
        @action = action
        @passing = nil
        Process.singleton_class.prepend(Hook)
      end

      # Runs a block that forks the server's own processes. The block of .install does not run in these processes, but
      # does run in processes that other threads fork at the same time.
      def pass
        @passing = Thread.current
        yield
      ensure
        @passing = nil
      end

      # True in the block of .pass, and in a process that it forks, until that process installs a guard of its own.
      def passing? = @passing == Thread.current

      def act
        action = @action unless passing?
        @action = nil
        action&.call
      end
    end
  end
end
