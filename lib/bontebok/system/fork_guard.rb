# frozen_string_literal: true

module Bontebok
  # Closes the server's descriptors in a process that the application forks. Such a process may outlive the server. Its
  # copies of the listeners would still take connections, which nobody serves, and would keep the next server from the
  # port. Its copies of life lines would keep processes alive that must end. Commands that the application executes have
  # none of these descriptors (close-on-exec).
  module ForkGuard
    # Wraps Process._fork, through which every fork of Ruby goes.
    module Hook
      def _fork
        super.tap { |pid| ForkGuard.act if pid.zero? }
      end
    end
    private_constant :Hook

    class << self
      # The block runs once in every process that is forked from now on. It replaces the block of an earlier call.
      def install(&action)
        @action = action
        @passing = nil
        Process.singleton_class.prepend(Hook)
      end

      # Runs a block whose forks are the server's own: the block of .install does not run in these processes. It does
      # run in processes that other threads fork at that time.
      def pass
        @passing = Thread.current
        yield
      ensure
        @passing = nil
      end

      # True in the block of .pass, and also in a process that this block forks, until that process installs a guard of
      # its own.
      def passing?
        @passing == Thread.current
      end

      def act
        action = @action unless passing?
        @action = nil
        action&.call
      end
    end
  end
end
