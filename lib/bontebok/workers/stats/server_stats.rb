# frozen_string_literal: true

require_relative "../../status/json"
require_relative "../../status/notes"
require_relative "../../status/puma"
require_relative "../../status/totals_table"
require_relative "../../status/worker_table"
require_relative "../../system/proc/observed_process"
require_relative "../../version"

module Bontebok
  # Bontebok.stats: the numbers of the server that this process belongs to, from the shared memory. No other process is
  # asked. The configuration and the notes take the place of the supervisor's answer.
  class ServerStats
    # facts: ThisServer::Facts, or nil. Returns a Hash of Hashes, Arrays, texts, finite numbers, true, false and nil:
    # the keys of Puma.stats_hash, and the numbers of Status::Json. Puma's `workers` is a number, so the Hashes of the
    # processes are `processes`.
    def self.of(facts)
      snapshot = facts ? new(facts).snapshot : Status::Snapshot.new(time: Time.now.to_f, server: VERSIONS)
      numbers = Status::Json.numbers(snapshot).except(*OUTSIDE)
      { **Status::Puma.of(snapshot), **numbers, processes: snapshot.workers }
    end

    VERSIONS = { version: VERSION, ruby: "#{RUBY_VERSION}p#{RUBY_PATCHLEVEL}" }.freeze
    # Options that tell how to read the numbers.
    VALUES = %i[threads tag max_queue queue_timeout].freeze
    # Only a look from outside of the server has these.
    OUTSIDE = %i[at accept_queues workers].freeze
    private_constant :VERSIONS, :VALUES, :OUTSIDE

    def initialize(facts)
      @facts = facts
      @config = facts.config
      @numbers = facts.links.numbers
      @deploys = events(:deploy)
      @workers = Status::WorkerTable.of(@numbers.lanes, @numbers.counted)
    end

    def snapshot
      totals = Status::TotalsTable.new(@numbers.totals)
      Status::Snapshot.new(time: Time.now.to_f, server: server, waiting: @facts.links.waiting_requests,
                           totals: totals.to_h, queue_time: totals.times(:queue_time),
                           service_time: totals.times(:service_time), deploys: @deploys, ends: events(:end),
                           workers: @workers)
    end

    private

    def server
      single = @facts.mode == "single"
      known = { pid: @facts.pid, mode: @facts.mode, workers: single ? 0 : @config.workers, state: state,
                generation: @facts.generation, started: started }
      { **VERSIONS, **VALUES.to_h { |key| [key, @config[key]] }, **known, **Status::Notes.serving(@deploys) }
    end

    # nil: no worker serves, or not yet.
    def state
      (@numbers.draining? ? "draining" : "serving") if @workers.any?
    end

    # The time of the start does not change.
    def started
      @facts.began ||= ObservedProcess.new(@facts.pid).started || @workers.filter_map { |worker| worker[:started] }.min
    end

    def events(kind) = Status::Notes.events(@numbers.notes(kind))
  end
end
