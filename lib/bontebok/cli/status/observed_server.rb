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
    # The exit status of a server whose version has no command `watch`.
    UNKNOWN = 2
    private_constant :PATIENCE, :UNKNOWN

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
      @watch.wait(deadline)
      take(deadline)
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

    def take(deadline)
      answer = @watch.answer
      return @memory = ObservedMemory.search(@watch.pid) unless answer
      return take_older(answer, deadline) if answer["status"]

      @facts = symbols(answer["server"])
      @memory = ObservedMemory.of(@watch.descriptors, masters, reason: answer["memory"])
    end

    # The pids are of the server's namespace.
    def masters = pid ? ProcessChildren.of(pid) & [*@facts[:masters]] : []

    # The answer is an error.
    def take_older(answer, deadline)
      raise StartError, Status::PlainText.lines(answer["text"].to_s) unless answer["status"] == UNKNOWN

      connection = @connect.call(deadline)
      connection.write({ command: "status" })
      @facts = symbols((connection.read_until(deadline) || {})["server"])
      @memory = ObservedMemory.search(@watch.pid)
    ensure
      connection&.close
    end

    # A key that is no text is no key of a server.
    def symbols(hash)
      hash.is_a?(Hash) ? hash.select { |key, _| key.valid_encoding? }.transform_keys(&:to_sym) : {}
    end
  end
end
