# frozen_string_literal: true

require_relative "../../system/error_text"
require_relative "first_error"

module Bontebok
  # How a deploy or a rollback ends: for the clients of the control socket that wait, and in the totals and notes of the
  # server. At first, the standard error of an executed master is a pipe to the supervisor. So the clients also get
  # errors of Bundler and Ruby.
  class DeployReport
    BYTES = 4096
    # Reads per call. The supervisor has other work, even if the master never stops writing.
    MOST = 16
    # Bytes in which FirstError is looked for.
    KEPT = 16 * 1024
    # Exit statuses of the command, and the names of these results (Totals::DEPLOYS).
    FAILURES = { 4 => "canary_bad", 5 => "canary_few" }.freeze
    REPLACEMENT = "in place of one that died or got a signal"
    private_constant :FAILURES, :REPLACEMENT

    # A deploy whose master is not started yet. clients: as in DeployReport.new. canary: the Canary, or nil.
    Order = Struct.new(:clients, :canary) do
      # The system refuses the start of the master, which is tried again and again. The clients hear it once.
      def refuse(error)
        text = "the new master cannot be started: #{ErrorText.of(error)}; the server tries again"
        clients.each { |client| client.say(text) } unless @refused
        @refused = true
      end

      # Another order takes its place, or the server stops.
      def drop(reason) = clients.each { |client| client.finish(1, reason) }
    end

    # number: of the generation. totals: the Totals. reader: the pipe, or nil. clients: the ControlClients that wait for
    # the end. kind: :deploy, :rollback, or :replacement of a master that has died or has asked for it.
    def initialize(number, totals, log, kind:, reader: nil, clients: [])
      @number = number
      @totals = totals
      @log = log
      @kind = kind
      @reader = reader
      @clients = clients
      @written = +""
      @copies = true
    end

    # The master in messages.
    def master = @kind == :rollback ? "the former master" : "the new master"

    # True if a deploy was ordered, nobody waits for its end, and it has not failed yet. Another deploy shows the error.
    def unheard? = @kind == :deploy && !@failed && client.nil?

    # Readable when the master has written something, or has ended; an empty list: nothing more will come.
    def sources = [@reader].compact

    # The master writes to the log itself from now on.
    def master_logs
      @copies = false
    end

    # Reads what the master has written.
    def take
      MOST.times do
        break unless @reader

        text = @reader.read_nonblock(BYTES, exception: false)
        return if text == :wait_readable
        return close_and_finish if text.nil?

        @log.copy(text) if @copies
        @written << text.byteslice(0, KEPT - @written.bytesize) if @written.bytesize < KEPT
        @clients.each { |client| client.tell(text) }
      end
    end

    # A client that still waits, or nil.
    def client
      @clients.find { |client| !client.closed? }
    end

    def say(text)
      @clients.each { |client| client.say(text) }
    end

    # The generation serves. It may have been superseded before, by a deploy that has failed then.
    def succeed
      back = @kind == :rollback
      reason = { deploy: "deploy", rollback: "rollback", replacement: REPLACEMENT }.fetch(@kind)
      note(back ? "rolled_back" : "succeeded", "serves (#{reason})")
      finish(0, "generation #{@number} serves#{' again' if back}")
      close
    end

    # Another deploy replaces this one. If nobody else serves, the master continues until the next one is ready. Only
    # the first reason is told.
    def supersede(reason)
      take
      @failed ? note_failed : note_failure("superseded", "is superseded: #{reason}")
      finish(@status || 1, reason)
    end

    # The master leaves or has ended. status: of the command, if the generation was judged. ends: the master is about to
    # end, and may still write why.
    def fail(reason, status: nil, ends: false)
      @failed ||= reason
      @status ||= status
      ends && @reader ? @outcome ||= [@status || 1, reason] : supersede(reason)
    end

    # Does not finish the clients.
    def close
      @reader&.close
      @reader = nil
    end

    # The program of the supervisor is not replaced (Replacement).
    def finish(status, text)
      status, text = @outcome if @outcome
      @clients.each { |client| client.finish(status, text) }.clear
    end

    private

    # The master's own error says more than that the master has ended.
    def note_failed
      note_failure(FAILURES.fetch(@status, "failed"), "failed: #{(FirstError.in(@written) unless @status) || @failed}")
    end

    # A deploy can report several failures: only the first one counts.
    def note_failure(result, text)
      note(result, text) unless @noted
      @noted = true
    end

    # Only what somebody has ordered counts.
    def note(result, text)
      text = "generation #{@number} #{text}"
      @kind == :replacement ? @totals.note(:deploy, text) : @totals.deployed(result, text)
    end

    def close_and_finish
      close
      finish(*@outcome) if @outcome
    end
  end
end
