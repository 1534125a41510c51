# frozen_string_literal: true

require_relative "../workers/child_loading"
require_relative "../config/hooks"
require_relative "../system/main_thread"

module Bontebok
  # The part of Master that runs hooks. The master's main thread is guarded against exceptions of other threads (see
  # MainThread). While a hook runs, there is no guard, because a hook may use Timeout.
  module MasterHooks
    private

    def attempt_hook(name, *arguments)
      lend { @config.hooks.attempt(name, *arguments, log: @log) }
    end

    def run_before_fork(worker)
      return unless @config.hooks.any?(:before_fork)
      return lend { @config.hooks.run(:before_fork, worker) } if @progress.loaded?

      begin
        guard_loading { lend { @config.hooks.run(:before_fork, worker) } }
      ensure
        @events.claim(*Master::SIGNALS)
        @events.push("CHLD") # a CHLD may have come while the hook ran
      end
    end

    def lend(&)
      MainThread.unguard(&)
    rescue Hooks::Failed
      raise
    rescue Exception => e # rubocop:disable Lint/RescueException
      MainThread.survive(e, @log)
    end
  end
end
