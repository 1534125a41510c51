# frozen_string_literal: true

require_relative "child_loading"
require_relative "readiness_check"
require_relative "release"

module Bontebok
  # The part of Worker before the worker serves: it loads its release, runs hooks, and checks that it is ready.
  module WorkerStart
    private

    # Returns the release.
    def prepare(release)
      return release unless release.nil? || @config.hooks.any?(:after_fork)

      ChildLoading.guard(channel: @channel, signals: self.class::SIGNALS, log: @log) do
        @config.hooks.run(:after_fork, itself_for_hooks)
        release || Release.load(@config, @log)
      end
    end

    # Returns the words that have arrived, or nil if the process must end.
    def get_ready(release, words)
      @life.go
      words += run_ready_hook + check_readiness(release)
      return words unless @together

      @channel.say(:prepared)
      ChildLoading.wait_for(:serve, @channel, words)
    end

    # Returns the words that arrived while the hook ran.
    def run_ready_hook
      return [] unless @config.hooks.any?(:after_worker_ready)

      ChildLoading.attend(@channel, @log) { @config.hooks.run(:after_worker_ready, itself_for_hooks) }
    end

    # Returns the words that arrived during the check.
    def check_readiness(release)
      check = ReadinessCheck.new(@config, release, log: @log)
      return [] unless check.wanted?

      ChildLoading.attend(@channel, @log) { check.run }
    rescue ReadinessCheck::Failed => e
      raise if @on_trial

      @log.warn(e.message)
      []
    end
  end
end
