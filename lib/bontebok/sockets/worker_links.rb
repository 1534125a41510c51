# frozen_string_literal: true

require "socket"

require_relative "duped_descriptor"
require_relative "stalled_workers"
require_relative "../start_error"

module Bontebok
  # The shared queue and the scoreboard of all workers. A busy worker puts a connection with a request into the shared
  # queue, and the first idle worker serves the request. The scoreboard shows which workers are idle. The started
  # process creates both before it forks.
  class WorkerLinks
    # Number of slots of the scoreboard. Each lane (a thread that serves requests) of each worker has a slot. A lane
    # without a slot serves as well, but gets no connections from other workers.
    LANES = 1024

    # Raises StartError.
    def initialize
      require "bontebok/bontebok" # here, so that a start can report that the extension is not built
      @scoreboard = Core::Scoreboard.new(LANES)
      @ends = Socket.pair(:UNIX, :SEQPACKET)
      @lent = []
    rescue SystemCallError => e
      reason = SystemCallError.new(nil, e.errno).message
      raise StartError, "cannot create the workers' shared queue and scoreboard: #{reason}"
    end

    # Gives the shared queue and the scoreboard to the core's worker. Must be called before the first lane is created.
    def connect(worker)
      @lent = @ends.map { |socket| DupedDescriptor.new(socket) }
      worker.share_queue(*@lent.map(&:fileno))
      worker.scoreboard(@scoreboard)
    end

    # Removes the lanes of a worker that has ended from the scoreboard. If a removed lane was woken for a connection and
    # did not accept it, a lane of another worker is woken.
    def forget(pid)
      queue = @ends.first
      @scoreboard.clear(pid, queue.closed? ? -1 : queue.fileno)
    end

    # Returns a StalledWorkers for these workers, or nil if seconds is 0 (no limit).
    def stalled(seconds)
      StalledWorkers.new(@scoreboard, seconds) if seconds.positive?
    end

    # The pids of the living workers that have lanes on the scoreboard.
    def pids
      @scoreboard.lanes.map { |lane| lane[:pid] }.uniq
    end

    # The pids of the workers that are leaving: they finish their requests and end.
    def leaving
      @scoreboard.lanes.filter_map { |lane| lane[:pid] if lane[:leaves] }.uniq
    end

    # true: the server announces to all clients that it will stop. See Core::Scoreboard#draining=.
    def draining=(value)
      @scoreboard.draining = value
    end

    # Closes Ruby's descriptors. The core's descriptors and the descriptors of other processes stay open.
    def close
      @ends.each(&:close)
    end

    # Called in a process that the application has forked.
    def disown
      close
      @lent.each(&:disown)
    end
  end
end
