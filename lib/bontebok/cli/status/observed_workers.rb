# frozen_string_literal: true

require_relative "../../system/proc/observed_process"
require_relative "../../system/proc/process_threads"

module Bontebok
  # The workers of a snapshot (Status::Snapshot), from the server's memory and from /proc. Many or large processes take
  # long to read. So the time is limited, and what is not read is nil.
  class ObservedWorkers
    # Seconds for the threads, and for all.
    THREADS = 0.02
    ALL = 0.04
    # Core's names of connections (BB_CONNECTIONS) that have another name in a snapshot.
    NAMES = { keepalive: :idle }.freeze
    private_constant :THREADS, :ALL, :NAMES

    # memory: ObservedMemory. family: ServerFamily.
    def initialize(memory, family)
      @memory = memory
      @family = family
      @began = now
    end

    def to_a
      counted = @memory.counted
      workers = known_lanes.group_by { |lane| lane[:pid] }.map.with_index(1) do |(pid, lanes), index|
        worker(pid, lanes, lanes.map { |lane| counted[[lane[:slot], pid]] }, index)
      end
      workers.sort_by! { |worker| worker.values_at(:number, :pid) }
      add_threads(workers)
      add_memory(add_states(workers))
      workers
    end

    private

    def known_lanes
      known = Hash.new { |pids, pid| pids[pid] = @family.include?(pid) }
      @memory.lanes.select { |lane| known[lane[:pid]] }
    end

    # counted: the lane's Hash in the totals, or nil.
    def worker(pid, lanes, counted, index)
      first = counted.compact.first || { worker: index }
      { pid: pid, number: first[:worker], generation: first[:generation], started: seconds(first[:began]),
        **flags(lanes, :leaves, :paused), silent: seconds(lanes.filter_map { |lane| lane[:silent] }.min),
        requests: sum(lanes, :requests), errors: sum(lanes, :errors), detached: sum(lanes, :detached),
        connections: connections(counted.compact), gc_time: gc_time(counted.compact),
        threads: lanes.zip(counted).map.with_index(1) { |(lane, numbers), number| thread(lane, numbers, number) } }
    end

    def connections(counted)
      counted.each_with_object(Hash.new(0)) do |lane, sums|
        lane[:connections].each { |kind, count| sums[NAMES.fetch(kind, kind)] += count }
      end
    end

    def gc_time(counted)
      counted.sum { |lane| lane[:counters][:gc_time] } / 1e6 if counted.any?
    end

    def thread(lane, numbers, number)
      tid = numbers&.fetch(:thread)
      { number: number, tid: (tid if tid&.positive?), state: lane[:state].to_s, taken: seconds(lane[:taken]),
        queue_time: seconds(lane[:queue_time]), label: lane[:label], held: lane[:held]&.to_s }
    end

    # Those with the longest requests come first.
    def add_threads(workers)
      return unless @family.known?

      pairs = workers.flat_map { |worker| worker[:threads].map { |thread| [worker[:pid], thread] } }
      pairs = pairs.select { |_, thread| thread[:tid] && thread[:state] == "request" }
      pairs.sort_by { |_, thread| -(thread[:taken] || 0) }.each do |pid, thread|
        break if now - @began > THREADS

        add_thread(pid, thread)
      end
    end

    def add_thread(pid, thread)
      found = ProcessThreads.found(pid, thread[:tid]) or return
      thread.update(kernel: found.kernel, run: found.state, cpu: found.cpu)
    end

    def add_states(workers)
      return [] unless @family.known?

      workers.map do |worker|
        process = ObservedProcess.new(worker[:pid])
        worker.update(state: process.state, cpu: process.cpu, started: worker[:started] || process.started)
        [worker, process]
      end
    end

    # This takes the longest time, so it comes last. The screen sums up idle workers, so busy ones come first.
    def add_memory(pairs)
      busy, idle = pairs.partition { |worker, _| worker[:threads].any? { |thread| thread[:taken] } }
      [*busy, *idle].each do |worker, process|
        break if now - @began > ALL

        worker[:pss] = process.pss
      end
    end

    def flags(lanes, *keys)
      keys.to_h { |key| [key, lanes.any? { |lane| lane[key] }] }
    end

    def sum(lanes, key) = lanes.sum { |lane| lane[key] }

    def seconds(milliseconds)
      milliseconds / 1000.0 if milliseconds
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
