# frozen_string_literal: true

module Bontebok
  # The server whose process this is, with the numbers for Bontebok.stats. Forked processes inherit it.
  module ThisServer
    # links: WorkerLinks. mode: "cluster" or "single". pid: of the process that keeps the server. generation: which
    # serves if no deploy is noted. began: seconds since 1970; nil: when the process with this pid has begun.
    Facts = Struct.new(:links, :config, :mode, :pid, :generation, :began, keyword_init: true)

    @own = nil
    @embedded = []
    @lock = Mutex.new

    class << self
      # Called in a process that belongs to the server.
      def is(**facts)
        @own = Facts.new(**facts)
      end

      # Called when a Bontebok::Server has started in the process of another program. Returns the Facts.
      def embed(**facts)
        Facts.new(**facts).tap { |added| @lock.synchronize { @embedded += [added] } }
      end

      # Called when it has ended. facts: the result of .embed.
      def remove(facts)
        @lock.synchronize { @embedded = @embedded.reject { |one| one.equal?(facts) } }
      end

      # The server of the process comes first: the application in a worker may run a Bontebok::Server of its own.
      def facts = @own || @embedded.last
    end
  end

  # The numbers of the server, as a Hash with the keys of Puma.stats_hash and with those of `bontebok status --json`:
  # see docs/STATUS.md. If no server runs, the Hash has the same keys, and no process. May be called in any thread.
  def self.stats
    require_relative "server_stats" # here, so that a process without a call does not load it
    ServerStats.of(ThisServer.facts)
  end
end
