# frozen_string_literal: true

require_relative "app_loader"
require_relative "child_loading"
require_relative "readiness_check"

module Bontebok
  # The part of Worker before the worker serves: it loads the application, runs hooks, and checks that it is ready.
  module WorkerStart
    private

    # Returns the application.
    def prepare(app)
      return app unless app.nil? || @config.hooks.any?(:after_fork)

      ChildLoading.guard(channel: @channel, signals: self.class::SIGNALS, log: @log) do
        @config.hooks.run(:after_fork, itself_for_hooks)
        app || AppLoader.reload(@config[:rackup], @log)
      end
    end

    # Returns the words that have arrived, or nil if the process must end.
    def get_ready(app, words)
      @life.go
      words += run_ready_hook + check_readiness(app)
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
    def check_readiness(app)
      check = ReadinessCheck.new(@config, app, log: @log)
      return [] unless check.wanted?

      ChildLoading.attend(@channel, @log) { check.run }
    rescue ReadinessCheck::Failed => e
      raise if @on_trial

      @log.warn(e.message)
      []
    end
  end
end
