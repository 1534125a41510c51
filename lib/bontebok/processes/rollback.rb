# frozen_string_literal: true

require_relative "deploy/end_note"

module Bontebok
  # The return to the former generation (keep_former), whose master is still loaded. The supervisor treats it as a
  # Deploy whose configuration and listeners are known already.
  class Rollback
    # The number, the configuration, the Listeners and the version of the former generation.
    attr_reader :generation, :config, :listeners, :version

    # version: see Deploy#version. workers: the number of workers of the former generation. clients: the ControlClients
    # that wait for the end.
    def initialize(generation, config, listeners, version, workers, clients)
      @generation = generation
      @config = config
      @listeners = listeners
      @version = version
      @workers = workers
      @clients = clients
    end

    def master = "the former master"

    def sources = []

    def asked? = false

    def answered? = true

    def read_report; end

    def listen; end

    def surge(*) = 0

    def deadline = nil

    def judge = nil

    def end_trial; end

    def note_crash; end

    # Another deploy would not start the former release again.
    def unheard? = false

    def close; end

    def count(_present) = @workers

    def grows? = false

    def succeed
      note.rolled_back
      finish(0, "generation #{@generation} serves again")
    end

    def fail(reason, **)
      note.failed("failed", reason)
      finish(1, reason)
    end

    alias discard fail

    def supersede(reason)
      note.superseded(reason)
      finish(1, reason)
    end

    private

    def note = @note ||= Deploy::EndNote.new(@listeners.worker_links.totals, @generation)

    def finish(status, text)
      @clients.each { |client| client.finish(status, text) }.clear
    end
  end
end
