# frozen_string_literal: true

require_relative "../workers/child_loading"
require_relative "../config/hooks"
require_relative "../system/main_thread"

module Bontebok
  # The hooks that run in a master. The master's main thread is guarded (see MainThread), but not while a hook runs,
  # because a hook may use Timeout, for example.
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
