# frozen_string_literal: true

require_relative "../system/main_thread"

module Bontebok
  # Runs the hook before_worker_drain once, when its process begins to end. The hook has a thread of its own, because it
  # may wait for requests and connections.
  class DrainHook
    NAME = :before_worker_drain

    # worker: a Hooks::Worker.
    def initialize(hooks, worker, log:)
      @hooks = hooks
      @worker = worker
      @log = log
    end

    # The block is called in the hook's thread after the hook. If there is no room for a thread, the hook does not run:
    # the process must still finish its requests.
    def run(&ended)
      return if @begun
      return unless @hooks.any?(NAME)

      @begun = @running = true
      Thread.new { attempt(&ended) }
    rescue ThreadError => e
      @running = false
      @log.error("the hook #{NAME} cannot run", e)
    end

    def running? = @running

    private

    def attempt
      MainThread.unguard { @hooks.attempt(NAME, @worker, log: @log) }
    ensure
      @running = false
      yield
    end
  end
end
