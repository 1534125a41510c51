# frozen_string_literal: true

require_relative "../../config/machine/memory_limit"
require_relative "../../system/process_memory"
require_relative "../../system/proc/process_state"
require_relative "../../system/proc/stat_line"

module Bontebok
  class Supervisor
    # How many workers the server has with `max_workers auto`: one for each CPU, but not more than the memory can hold.
    # The estimate needs the first worker, when it is ready.
    module AutoWorkers
      # The part of the limit that the estimate may use. The rest is for the kernel's cache of files, for other
      # processes, and for applications that grow more than the one that was measured.
      SHARE = 0.8
      # The part of the shared memory that a worker changes while it serves requests, so that it then has a copy of its
      # own: at most 0.39 after 10,000 requests of a Rails application (bench/memory).
      GROWTH = 0.4

      # The memory of a generation in bytes. shared: what its processes have together. own: what the first worker has
      # alone.
      Memory = Struct.new(:shared, :own)

      # The number of workers, and the reason for the log.
      Decision = Struct.new(:workers, :reason) do
        def to_s = "max_workers auto: #{workers} worker#{'s' unless workers == 1}, #{reason}"
      end

      class << self
        # cpus: their number. limit: the MemoryLimit. memory: the Memory, or nil if it cannot be read. surge: the value
        # of deploy_surge. generations: how many are in the memory during a deploy. least: the number of workers that
        # serve already.
        def decide(cpus:, limit:, memory:, surge: 0, generations: 2, least: 1)
          unless memory && limit.bytes
            return Decision.new([cpus, least].max, "limited by the CPUs: the system does not show the memory")
          end

          worker = memory.own + (GROWTH * memory.shared)
          room = (limit.bytes * SHARE) - (generations * memory.shared)
          count = (least..cpus).take_while { |number| together(number, surge) * worker <= room }.last
          Decision.new(count || least, reason(count, cpus) + figures(limit, memory, worker))
        end

        # worker: the pid of the first worker. Returns nil if the system does not show the memory of the processes.
        def measure(worker)
          pids = [Process.pid, StatLine.parent_of(worker), worker]
          exact(pids) || coarse(pids)
        end

        # True if the worker has ended, also if its master does not know it yet.
        def ended?(worker)
          line = StatLine.read("/proc/#{worker}/stat")
          line ? line.state == "Z" : ProcessState.gone?(worker) # /proc may not show it
        end

        private

        def exact(pids)
          memories = pids.map { |pid| ProcessMemory.read("/proc/#{pid}/smaps_rollup") }
          return if memories.any?(nil)

          own = memories.last.own
          Memory.new(memories.sum(&:share) - own, own)
        end

        # For a root without the capability SYS_PTRACE (a container) whose workers have another user. The result is a
        # bit too high, because the processes share some memory that counts for each of them.
        def coarse(pids)
          supervisor, master, worker = pids.map { |pid| ProcessMemory.resident(pid) }
          Memory.new(supervisor + master, [worker - master, 0].max) if supervisor && master && worker
        end

        # The number of workers that run at the same time during a deploy, or while all are replaced.
        def together(number, surge)
          number + (surge.zero? ? number : [number, surge].min)
        end

        # count: nil if the memory is too small for the workers that serve already.
        def reason(count, cpus)
          return "the minimum" unless count

          count == cpus ? "limited by the CPUs" : "limited by the memory"
        end

        def figures(limit, memory, worker)
          each, all, most = [worker, memory.shared, limit.bytes].map { |bytes| bytes.round >> 20 }
          ": #{limit.owner} has #{most} MB, all workers share #{all} MB, each needs about #{each} MB of its own"
        end
      end
    end
  end
end
