# frozen_string_literal: true

require "socket"

require_relative "duped_descriptor"
require_relative "stalled_workers"
require_relative "../start_error"

module Bontebok
  # What the workers of a server have in common, besides the listeners: the queue through which they pass connections on
  # to each other, so that the first one that is idle serves a request whose own worker is busy; and the board on which
  # each sees who is idle. Made in the process that was started, before it forks.
  class WorkerLinks
    # Lanes of all workers that live at the same time. Those beyond serve as well, but nothing is passed on to them.
    LANES = 1024

    # Raises StartError.
    def initialize
      require "bontebok/bontebok" # not with this file, which is loaded before anybody can say that it is missing
      @scoreboard = Core::Scoreboard.new(LANES)
      @ends = Socket.pair(:UNIX, :SEQPACKET)
      @lent = []
    rescue SystemCallError => e
      raise StartError, "no room for what workers share: #{SystemCallError.new(nil, e.errno).message}"
    end

    # Before the first lane: makes the core's worker one of them.
    def connect(worker)
      @lent = @ends.map { |socket| DupedDescriptor.new(socket) }
      worker.share_queue(*@lent.map(&:fileno))
      worker.scoreboard(@scoreboard)
    end

    # A worker has ended. Others may have to be told of what it had been told of.
    def forget(pid)
      queue = @ends.first
      @scoreboard.clear(pid, queue.closed? ? -1 : queue.fileno)
    end

    # Which of them have a request and do not move for so many seconds. nil: 0 s is no limit.
    def stalled(seconds)
      StalledWorkers.new(@scoreboard, seconds) if seconds.positive?
    end

    # The workers that live and have lanes on the board.
    def pids
      @scoreboard.lanes.map { |lane| lane[:pid] }.uniq
    end

    # Those of them that end when they have finished.
    def leaving
      @scoreboard.lanes.filter_map { |lane| lane[:pid] if lane[:leaves] }.uniq
    end

    # Closes our descriptors; other processes, and the core, keep theirs.
    def close
      @ends.each(&:close)
    end

    # In a process that was forked by the application.
    def disown
      close
      @lent.each(&:disown)
    end
  end
end
