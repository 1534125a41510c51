# frozen_string_literal: true

require "io/wait"

require_relative "../config/supervisor_config"
require_relative "deploy/end_note"
require_relative "deploy/steps"
require_relative "deploy_report"
require_relative "../log/log_files"
require_relative "../sockets/handshake"
require_relative "../sockets/host_names"
require_relative "../sockets/passed_listeners"
require_relative "../start_error"
require_relative "../version"

module Bontebok
  # The supervisor's part of the start of an executed master. The supervisor executes its own start command again, so
  # the new process reads the gems, the configuration and the application as they are now. The two processes then
  # exchange these messages (see Successor for the master's part):
  #
  #   1. The master sends its version, the part of its configuration that the supervisor uses, and the IP addresses of
  #      the host names in it.
  #   2. The supervisor binds the addresses that are new in this configuration, opens its log files, and sends all
  #      descriptors that a master needs. If this fails, the supervisor sends the error, and the master ends.
  #
  # When all workers of the master are ready, the new configuration takes effect in the supervisor.
  class Deploy
    include Steps

    # The version of the messages. A master with another version ends.
    PROTOCOL = 1
    # Exit statuses of the command, and the names of these results (TotalNames::DEPLOYS).
    FAILURES = { 4 => "canary_bad", 5 => "canary_few" }.freeze
    private_constant :FAILURES

    # The SupervisorConfig and the Listeners of the new master; nil before #answer.
    attr_reader :generation, :config, :listeners

    # generation: the number of the master. former, former_listeners: the supervisor's present Config and Listeners.
    # handshake: the supervisor's end of the Handshake. report: the DeployReport. canary: the Canary, or nil.
    def initialize(generation, former, former_listeners, handshake, report, canary = nil)
      @generation = generation
      @former = former
      @former_listeners = former_listeners
      @handshake = handshake
      @report = report
      @canary = canary
    end

    # Readable when the master has sent its message, or has written an error, or has ended.
    def sources
      [(@handshake.to_io unless answered?), *@report.source].compact
    end

    def answered? = @handshake.to_io.closed?

    def asked? = !answered? && !@handshake.to_io.wait_readable(0).nil?

    # The master's version of Bontebok.
    attr_reader :version

    # The master in messages.
    def master = "the new master"

    # pid: of the master. workers: the present number of workers (see #count). former_workers: the number of
    # former workers, of which all but one can leave before the end. on_trial: a former generation serves, and stays if
    # the new one is not ready. Returns nothing; an error is sent to the master, which logs it and ends.
    def answer(pid:, workers:, former_workers:, life_line:, on_trial:)
      message, = @handshake.hear
      return unless message

      @report.take(copy: true) # before the master gets the log
      read(message)
      @listeners = @former_listeners.next(@config, HostNames::Table.new(message["addresses"]))
      @listeners.bind
      @on_trial = on_trial
      links = @listeners.worker_links
      totals = links.totals.pass(pid, message["layouts"], links: links.descriptors.any?)
      send_descriptors(life_line, totals, generation: @generation, workers: first_workers(workers, former_workers),
                                          trial: on_trial ? count(workers) : 0, canary: !@canary.nil?)
    rescue StandardError => e # the message can be malformed in many ways, and the supervisor must not end
      refuse(e)
    ensure
      @handshake.close
    end

    # The number of workers. present: the present number. A deploy keeps it if max_workers is the same as before,
    # because the memory (AutoWorkers) and signals may have changed it.
    def count(present)
      return [present, @config.workers].min if grows?

      same = @config.auto_workers? || (!@former.auto_workers? && @config.workers == @former.workers)
      same ? present : @config.workers
    end

    # True if max_workers is auto now, and was a number before: more workers may start when this generation serves.
    def grows?
      @config.auto_workers? && !@former.auto_workers?
    end

    # Closes the descriptors. Called in a forked process, too.
    def close
      @handshake.close
      @report.close
    end

    # Reads what the master has written to its standard error.
    def read_report
      @report.take(copy: !@sent)
    end

    # Makes the new addresses listen. Raises StartError.
    def listen
      raise StartError, "the new master has sent no configuration" unless @listeners

      @listeners.listen
    end

    # Called when the master serves.
    def succeed
      note.succeeded
      @report.finish(0, "generation #{@generation} serves")
      close
    end

    # Called when another deploy replaces this one. If nobody else serves, the master continues until the next one is
    # ready. Only the first reason is told.
    def supersede(reason)
      read_report
      note_failure(reason)
      @report.finish(@failure || 1, reason)
    end

    # True if nobody hears why the deploy fails.
    def unheard? = !@over && @report.unheard?

    # Called when the master leaves or has ended. The next deploy can bind the new addresses. ends: the master is about
    # to end, and may still write why.
    def fail(reason, ends: false)
      @over = true
      @reason ||= reason
      ends ? @report.finish_at_end(@failure || 1, reason) : supersede(reason)
      @listeners&.discard
    end

    # Called when the master has ended, or will end.
    def discard(reason)
      fail(reason)
      close
    end

    private

    def note
      @note ||= EndNote.new(@former_listeners.worker_links.totals, @generation, ordered: @report.ordered?)
    end

    # The master's own error says more than that the master has ended.
    def note_failure(reason)
      return note.superseded(reason) unless @over

      note.failed(FAILURES.fetch(@failure, "failed"), (@report.error unless @failure) || @reason)
    end

    def read(message)
      unless message["protocol"] == PROTOCOL
        raise StartError, "bontebok #{message['version']} cannot be deployed: restart the server"
      end

      @version = message["version"]
      @config = SupervisorConfig.new(message.fetch("config"), @former)
      raise StartError, "max_workers 0 needs a restart of the server" if @config.workers.zero?
    end

    # The supervisor keeps its own descriptors. Those of the totals are the last ones, because an older version ignores
    # descriptors behind the listeners. They are left out if a message has no room for them.
    def send_descriptors(life_line, totals, **numbers)
      logs = LogFiles.files(@config)
      links = @listeners.worker_links.descriptors
      descriptors = [*logs, *links, life_line&.to_io, *@listeners.map(&:socket)].compact
      metrics = totals.files.first([Handshake::MOST - descriptors.size, 0].max)
      @handshake.say(
        { protocol: PROTOCOL, **numbers, links: links.size, life_line: !life_line.nil?,
          metrics: metrics.size, metrics_shared: totals.shared,
          stored: @listeners.stored?, listeners: PassedListeners.describe(@listeners) },
        descriptors + metrics
      )
      @sent = true
    ensure
      logs&.each(&:close)
    end

    def refuse(error)
      @listeners&.discard
      @handshake.say({ protocol: PROTOCOL, error: error.message.dup.force_encoding(Encoding::UTF_8).scrub })
    rescue StandardError
      nil # the master has ended
    end
  end
end
