# frozen_string_literal: true

module Bontebok
  # A process that the application forks inherits our descriptors. If it outlives the server, the listeners that it
  # holds without knowing would still take connections, which nobody serves, and keep the port from the next server; and
  # its copies of life lines would keep processes that must end. So in such a process they are closed. Commands that it
  # executes have none of them anyhow (close-on-exec).
  module ForkGuard
    # Around Process._fork, through which every fork of Ruby's goes.
    module Hook
      def _fork
        super.tap { |pid| ForkGuard.act if pid.zero? }
      end
    end
    private_constant :Hook

    class << self
      # The block runs in every process that is forked from now on, once, in place of what was to run before.
      def install(&action)
        @action = action
        @passing = nil
        Process.singleton_class.prepend(Hook)
      end

      # Forks that the given block makes are our own: nothing runs in them. What other threads fork meanwhile is not.
      def pass
        @passing = Thread.current
        yield
      ensure
        @passing = nil
      end

      # Also in the process that it has forked, until that installs a guard of its own.
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
