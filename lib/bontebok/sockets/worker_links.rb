# frozen_string_literal: true

require "socket"

require_relative "duped_descriptor"
require_relative "stalled_workers"
require_relative "../start_error"

module Bontebok
  # What the workers of a server have in common, besides the listeners: the shared queue and the scoreboard. Through the
  # shared queue workers pass on connections, so that the first idle worker serves a request whose own worker is busy.
  # On the scoreboard each worker sees which workers are idle. Made in the process that was started, before it forks.
  class WorkerLinks
    # The scoreboard's slots, for the lanes of all workers that live at the same time. Lanes without a slot serve as
    # well, but nothing is passed on to them.
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

    # Gives the shared queue and the scoreboard to the core's worker. Call it before the first lane is made.
    def connect(worker)
      @lent = @ends.map { |socket| DupedDescriptor.new(socket) }
      worker.share_queue(*@lent.map(&:fileno))
      worker.scoreboard(@scoreboard)
    end

    # Removes the lanes of a worker that has ended from the scoreboard. If a lane was woken for a connection that it did
    # not accept, a lane of another worker is woken.
    def forget(pid)
      queue = @ends.first
      @scoreboard.clear(pid, queue.closed? ? -1 : queue.fileno)
    end

    # Returns the StalledWorkers of these workers; nil if seconds is 0, which is no limit.
    def stalled(seconds)
      StalledWorkers.new(@scoreboard, seconds) if seconds.positive?
    end

    # The pids of the living workers that have lanes on the scoreboard.
    def pids
      @scoreboard.lanes.map { |lane| lane[:pid] }.uniq
    end

    # The pids of the workers that are leaving: they end when they have finished.
    def leaving
      @scoreboard.lanes.filter_map { |lane| lane[:pid] if lane[:leaves] }.uniq
    end

    # Closes Ruby's descriptors; other processes and the core keep theirs.
    def close
      @ends.each(&:close)
    end

    # For a process that the application has forked.
    def disown
      close
      @lent.each(&:disown)
    end
  end
end
