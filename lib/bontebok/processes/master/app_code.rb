# frozen_string_literal: true

require_relative "../../config/hooks"
require_relative "../../system/main_thread"
require_relative "../../workers/child_loading"
require_relative "../../workers/release"

module Bontebok
  class Master
    # Runs code of the application in a master: loads the release, and runs hooks. The master's main thread is guarded
    # against exceptions of other threads (see MainThread). While a hook runs, there is no guard, because a hook may use
    # Timeout.
    class AppCode
      # signals, guard: the arguments of ChildLoading.guard.
      def initialize(config, log, signals:, **guard)
        @config = config
        @hooks = config.hooks
        @log = log
        @signals = signals
        @guard = guard
      end

      def load_release
        guard_loading { MainThread.unguard { Release.load(@config, @log) } }
      end

      def attempt(name, *arguments)
        lend { @hooks.attempt(name, *arguments, log: @log) }
      end

      # Runs the hooks of a worker that the block forks. Returns the block's result, a Child. first: no worker serves
      # yet. events: the SignalQueue. Raises Hooks::Failed.
      def around_fork(number, events, first:)
        worker = Hooks::Worker.new(number)
        first && @hooks.any?(:before_fork) ? guard_hook(worker, events) : run_hook(worker)
        lend { Thread.pass } # an exception that is still pending would be lost in the fork
        yield.tap { |child| attempt(:after_worker_fork, Hooks::Worker.new(number, child.pid)) }
      end

      private

      def guard_hook(worker, events)
        guard_loading { run_hook(worker) }
      ensure
        events.claim(*@signals)
        events.push("CHLD") # a CHLD may have come while the hook ran
      end

      def run_hook(worker) = lend { @hooks.run(:before_fork, worker) }

      # Runs a block with code of the application, before any worker serves.
      def guard_loading(&) = ChildLoading.guard(log: @log, signals: @signals, **@guard, &)

      def lend(&)
        MainThread.unguard(&)
      rescue Hooks::Failed
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException
        MainThread.survive(e, @log)
      end
    end
  end
end
