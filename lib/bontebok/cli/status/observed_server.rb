# frozen_string_literal: true

require_relative "../../sockets/control/watch"
require_relative "../../start_error"
require_relative "../../status/plain_text"
require_relative "../../system/deadline"
require_relative "observed_memory"

module Bontebok
  # The server that `bontebok status` shows: its answer to `watch`, its memory and its pid. If the server does not
  # answer, /proc shows its memory (docs/decisions/0029-status-reads-the-memory-through-proc.md).
  class ObservedServer
    # Seconds that the server gets to accept the connection and to answer.
    PATIENCE = 2
    private_constant :PATIENCE

    # The server's own answer, with Symbols as keys; empty: it has not answered. The ObservedMemory.
    attr_reader :facts, :memory

    # The block gets a Deadline and returns a ControlConnection.
    def initialize(&connect)
      @connect = connect
      ask
    end

    # Asks again. Raises StartError.
    def ask
      deadline = Deadline.new(PATIENCE)
      close
      @facts = {}
      @watch = Watch.new(@connect.call(deadline))
      take(@watch.wait(deadline))
    end

    # Another process would answer now, or an answer has come late.
    def stale?
      answered? ? @watch.over? : @watch.over? || !@watch.answer.nil?
    end

    def answered? = !@facts.empty?

    # The pid of the process that answers, or must answer, as this process sees it. nil: the process is in another
    # namespace of pids.
    def pid
      pid = @watch.pid
      pid if pid.positive? && [nil, pid].include?(@facts[:pid])
    end

    def close
      @watch&.close
      @memory&.close
    end

    private

    # answer: nil if the server does not answer. With a status, it refuses.
    def take(answer)
      return @memory = ObservedMemory.search(@watch.pid) unless answer
      raise StartError, Status::PlainText.lines(answer["text"].to_s) if answer["status"]

      @facts = symbols(answer["server"])
      @memory = ObservedMemory.of(@watch.descriptors, masters, reason: answer["memory"])
    end

    # The pids are of the server's namespace.
    def masters = pid ? ProcessChildren.of(pid) & [*@facts[:masters]] : []

    # A key that is no text is no key of a server.
    def symbols(hash)
      hash.is_a?(Hash) ? hash.select { |key, _| key.valid_encoding? }.transform_keys(&:to_sym) : {}
    end
  end
end
