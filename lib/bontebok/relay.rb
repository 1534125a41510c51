# frozen_string_literal: true

require "socket"

require_relative "lent_descriptor"

module Bontebok
  # The queue through which the workers of a server pass connections on to each other: a complete request whose worker
  # is busy is served by the first one that is idle. Made in the process that was started, before it forks.
  class Relay
    def initialize
      @ends = Socket.pair(:UNIX, :SEQPACKET)
      @lent = []
    end

    # Copies for the core, which takes them over: where connections are put in, and where they come out.
    def descriptors
      @lent = @ends.map { |socket| LentDescriptor.new(socket) }
      @lent.map(&:fileno)
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
