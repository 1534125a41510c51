# frozen_string_literal: true

require_relative "../../status/worker_table"
require_relative "../../system/clock"
require_relative "../../system/proc/observed_process"
require_relative "../../system/proc/proc_file"
require_relative "../../system/proc/stat_line"

module Bontebok
  # The workers of a snapshot (Status::Snapshot), from the server's memory and from /proc. Many or large processes take
  # long to read. So after some time no read begins, and the other values are nil.
  class ObservedWorkers
    # Seconds after which no read begins. A person waits for the screen, a program has more time. The read of the memory
    # of one very large process can take longer.
    PERSON = 0.02
    PROGRAM = 0.5
    # The part of this time for the threads.
    THREADS = 0.75
    # Threads that read the memory of processes, besides the calling one.
    READERS = 3
    private_constant :THREADS, :READERS

    # lanes, counted: see SharedNumbers. family: ServerFamily. seconds: PERSON or PROGRAM.
    def initialize(lanes, counted, family, seconds)
      @lanes = lanes
      @counted = counted
      @family = family
      @seconds = seconds
      @began = Clock.now
    end

    def to_a
      workers = Status::WorkerTable.of(known_lanes, @counted)
      add_threads(workers)
      add_memory(add_states(workers))
      workers
    end

    private

    def known_lanes
      known = Hash.new { |pids, pid| pids[pid] = @family.include?(pid) }
      @lanes.select { |lane| known[lane[:pid]] }
    end

    # Those with the longest requests come first.
    def add_threads(workers)
      return unless @family.known?

      pairs = workers.flat_map { |worker| worker[:threads].map { |thread| [worker[:pid], thread] } }
      pairs = pairs.select { |_, thread| thread[:tid] && thread[:state] == "request" }
      pairs.sort_by { |_, thread| -(thread[:taken] || 0) }.each do |pid, thread|
        break if Clock.now - @began > THREADS * @seconds

        add_thread(pid, thread)
      end
    end

    def add_thread(pid, thread)
      directory = "/proc/#{pid}/task/#{thread[:tid]}"
      line = StatLine.read("#{directory}/stat") or return
      thread.update(kernel: kernel_function(directory), run: line.state, cpu: line.cpu)
    end

    # The function of the kernel in which the thread waits; nil: it runs, or this user may not see it. The file has a
    # function's name, or 0. Compilers add ".constprop.0" and the like.
    def kernel_function(directory)
      ProcFile.read("#{directory}/wchan")&.slice(/\A([A-Za-z_]\w*)(?:\.[\w.]*)?\z/, 1)
    end

    def add_states(workers)
      return [] unless @family.known?

      workers.map do |worker|
        process = ObservedProcess.new(worker[:pid])
        worker.update(state: process.state, cpu: process.cpu, started: worker[:started] || process.started)
        [worker, process]
      end
    end

    # This takes the longest time, so it comes last. The screen sums up idle workers, so busy ones come first. The
    # kernel adds up the memory of a process during the read, and Ruby's lock is free then.
    def add_memory(pairs)
      left = pairs.partition { |worker, _| worker[:threads].any? { |thread| thread[:taken] } }.flatten(1)
      readers = start_readers(left)
      read_memory(left)
      readers.each(&:join)
    end

    # The user may have no thread more (ulimit -u, pids.max).
    def start_readers(left)
      readers = []
      READERS.times { readers << Thread.new { read_memory(left) } }
      readers
    rescue ThreadError
      readers
    end

    def read_memory(left)
      while Clock.now - @began < @seconds && (worker, process = left.shift)
        worker[:pss] = process.pss
      end
    end
  end
end
