# frozen_string_literal: true

module Bontebok
  # A process that the application forks inherits our descriptors. If it outlives the server, the listeners that it
  # holds without knowing would still take connections, which nobody serves, and keep the port from the next server.
  # So in such a process they are closed. Commands that it executes have none of them anyhow (close-on-exec).
  module ForkGuard
    # Around Process._fork, through which every fork of Ruby's goes.
    module Hook
      def _fork
        super.tap { |pid| ForkGuard.close_all if pid.zero? }
      end
    end
    private_constant :Hook

    @guarded = []

    class << self
      # What from now on is closed in forked processes, instead of what was guarded before.
      def install(*closeables)
        @guarded = closeables
        Process.singleton_class.prepend(Hook)
      end

      # The block's fork is our own: the child keeps all.
      def pass
        guarded = @guarded
        @guarded = []
        yield
      ensure
        @guarded = guarded
      end

      def close_all
        @guarded.each(&:close)
        @guarded = []
      end
    end
  end
end
