# frozen_string_literal: true

require_relative "../../sockets/diag/accept_queues"
require_relative "../../status/notes"
require_relative "../../status/snapshot"
require_relative "../../status/totals_table"
require_relative "observed_workers"
require_relative "server_family"

module Bontebok
  # Looks at a server once: makes a Status::Snapshot from its answer, its memory, /proc and the kernel's queues.
  class Observation
    # server: ObservedServer. seconds: see ObservedWorkers.
    def initialize(server, seconds = ObservedWorkers::PERSON)
      @seconds = seconds
      @facts = server.facts
      @memory = server.memory
      @answered = server.answered?
      @at = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      @time = Time.now.to_f
      @lanes = @memory.lanes
      @pids = @lanes.map { |lane| lane[:pid] }.uniq
      @family = ServerFamily.new(server.pid, @pids, @facts[:masters])
      @deploys = events(:deploy)
    end

    # Differs from that of another look if the server's answer may have changed.
    def fingerprint = [@family.members, @pids.sort, @deploys.last, @memory.draining?]

    # See ObservedMemory.
    def source = @memory.source

    def snapshot
      totals = Status::TotalsTable.new(@memory.totals)
      list = workers
      Status::Snapshot.new(at: @at, time: @time, server: server(list), waiting: @memory.waiting,
                           accept_queues: accept_queues, totals: totals.to_h, queue_time: totals.times(:queue_time),
                           service_time: totals.times(:service_time), deploys: @deploys, ends: events(:end),
                           workers: list)
    end

    private

    def workers
      return told_workers if @memory.empty? && @facts[:processes]

      ObservedWorkers.new(@lanes, @memory.counted, @family, @seconds).to_a
    end

    # As the server itself has told (WorkerLinks#processes). Its memory cannot be read on a system without files in
    # memory.
    def told_workers
      processes = [*@facts[:processes]].grep(Hash).first(Status::Snapshot::MOST)
      processes.map.with_index(1) do |process, number|
        { number: number, pid: process["pid"], leaves: process["leaves"], requests: process["requests"],
          errors: process["errors"], threads: told_threads(process) }
      end
    end

    def told_threads(process)
      number, busy = process.values_at("threads", "busy").map { |value| count(value).clamp(0, Status::Snapshot::MOST) }
      Array.new(number) do |index|
        { number: index + 1, state: index < busy ? "request" : "idle",
          taken: (count(process["longest"]) / 1000.0 if index.zero? && process["longest"]) }
      end
    end

    def count(value) = Status::Shape::COUNT.call(value)

    def server(workers)
      threads = @facts[:threads] || workers.map { |worker| worker[:threads].size }.max
      { **Status::Notes.serving(@deploys), **@facts.compact,
        pid: @facts[:pid] || @family.pid, mode: mode, state: state, threads: threads, started: @family.started,
        hidden: @memory.hidden?, uncounted: @memory.uncounted?,
        trouble: [*@family.troubles(@answered), *@memory.fault] }
    end

    # A server that does not answer does not tell it.
    def mode = @facts[:mode] || (@pids.include?(@family.pid) ? "single" : "cluster")

    # The memory is newer than the answer.
    def state
      @facts[:state] == "serving" && @memory.draining? ? "draining" : @facts[:state]
    end

    # The kernel is asked for each address.
    def accept_queues
      AcceptQueues.of([*@facts[:listeners]].grep(String).uniq.first(Status::Snapshot::LISTENERS))
    end

    def events(kind) = Status::Notes.events(@memory.notes(kind))
  end
end
