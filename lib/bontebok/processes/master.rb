# frozen_string_literal: true

require_relative "../sockets/channel"
require_relative "../workers/child_loading"
require_relative "children"
require_relative "../workers/collector"
require_relative "companion"
require_relative "../system/exit_limit"
require_relative "../workers/exit_priority"
require_relative "forked_process"
require_relative "../system/fork_guard"
require_relative "../config/hooks"
require_relative "../log/log_files"
require_relative "../system/loop"
require_relative "../system/main_thread"
require_relative "master/app_code"
require_relative "../workers/out_of_band"
require_relative "master/out_of_band_turns"
require_relative "master/progress"
require_relative "../system/quiet_signals"
require_relative "../system/signal_queue"
require_relative "../workers/stats/this_server"
require_relative "../workers/worker"

module Bontebok
  # The master process, forked by Supervisor. A master and its workers are a generation. The master loads the
  # application and forks the workers, but serves no requests. It obeys the words (messages of Channel) that the
  # supervisor sends. On TERM or QUIT from another process, the master only asks the supervisor to replace it. If the
  # supervisor dies, the workers finish their requests and the master ends.
  class Master
    SIGNALS = %w[TERM QUIT INT HUP CHLD].freeze
    # Why a generation ends, by the word of the supervisor.
    ENDS = { drain: "the server stops", quit: "the server stops at once",
             retire: "another generation or server serves", park: "another generation serves" }.freeze

    # generation: the number of this master among the server's masters, from 1. workers: the number of its workers.
    # release: the Release, if the supervisor has loaded its application; nil: the master or each worker loads it.
    # life_line: the LifeLine, or nil if the supervisor does not adopt the workers when this process dies. trial: the
    # number of workers that must be ready before the former generation leaves; 0: there is none (see Worker). canary:
    # at first, some of them serve beside the former ones.
    def initialize(config, listeners, generation:, workers:, channel:, log:, release: nil, life_line: nil, trial: 0,
                   canary: false)
      @config = config
      @count = workers
      @listeners = listeners
      @generation = generation
      @channel = channel
      @log = log
      @release = release
      @life_line = life_line
      @trial = trial
      @canary = canary
      @code = AppCode.new(config, log, channel: channel, signals: SIGNALS, orphaned: -> { unlink_orphaned })
    end

    # Returns the exit status.
    def run
      @config.account.assume
      Process.setproctitle("bontebok master")
      Channel.log = @log
      ForkGuard.install { own.each(&:disown) }
      ThisServer.is(links: @listeners.worker_links, config: @config, mode: "cluster", pid: Process.ppid,
                    generation: @generation)
      MainThread.guard do
        prepare
        loop_of_events.run { over? }
      end
      @progress.failed? ? 1 : 0
    rescue AppLoader::Failed, ThreadError => e
      @log.error(e.message, e.cause)
      1
    rescue SystemCallError => e
      @log.error("cannot serve", e)
      1
    ensure
      ExitLimit.set(@config.seconds(:graceful_timeout), status: 1, log: @log)
      @code.attempt(:after_stopped) if @progress&.booted?
    end

    private

    # The objects that close their descriptors in a process that the application forks.
    def own = [@listeners, Channel, ChildLoading, QuietSignals, @log, *@turns, *@life_line, *@companions]

    def prepare
      @release ||= @code.load_release if @config[:preload]
      Collector.new.settle if @release
      @turns = OutOfBandTurns.new([@count, @config.workers].max) if OutOfBand.wanted?(@config)
      @events = SignalQueue.new(*SIGNALS)
      @companions = companions
      @workers = children
      @progress = progress
    end

    def children
      Children.new(@count, **seconds, log: @log, ended: ->(child) { note_end(child) }) do |number|
        @code.around_fork(number, @events, first: !@progress.loaded?) { fork_worker(number) }
      end
    end

    def companions
      @config.companions.map do |name|
        Companion.new(name, Companion::Jobs, pause: @config.seconds(:err_respawn_interval), log: @log,
                                             to_close: [@events])
      end
    end

    def progress
      Progress.new(@workers, @channel, generation: @generation, trial: @trial, canary: @canary, log: @log,
                                       silence: @config.seconds(:err_respawn_interval)) do |step|
        step == :ready ? @code.attempt(:on_booted) : stop(:retire)
      end
    end

    def totals = @listeners.worker_links.totals

    # Called if the supervisor ends before any worker serves.
    def unlink_orphaned
      @listeners.take_over
      @listeners.unlink
    end

    def seconds
      boot = @config.boot_seconds
      { pause: @config.seconds(:err_respawn_interval), boot: boot.zero? ? Float::INFINITY : boot,
        grace: @config.seconds(:graceful_timeout), hijack: @config.seconds(:hijack_timeout),
        stalled: @listeners.worker_links.stalled(@config.seconds(:worker_timeout)) }
    end

    def fork_worker(number)
      @turns&.workers = @workers.size
      ForkedProcess.fork(to_close: [@events, *@companions]) do |channel|
        @log.worker = number
        Worker.new(@config, @listeners, number: number, generation: @generation, channel: channel, log: @log,
                                        turns: @turns, life_line: @life_line, on_trial: @progress.trial?,
                                        together: @workers.together?).run(@release)
      end
    end

    def note_end(child)
      @listeners.worker_links.forget(child.pid)
      reason, text = child.reason_of_end
      totals.ended(reason, text && "worker #{child.number} g#{@generation} (pid #{child.pid}): #{text}")
      @channel.say(:crashed) if child.staying? && child.reached?(:ready)
      @code.attempt(:after_worker_exit, Hooks::Worker.new(child.number, child.pid), child.status)
    end

    # One note is for all workers that end as told: notes about failures must stay, and few notes are kept.
    def note_end_of_generation(word)
      size = "#{@workers.size} worker#{'s' unless @workers.size == 1}"
      totals.note(:end, "generation #{@generation} (#{size}) ends: #{ENDS[word]}") unless @workers.empty?
    end

    # The loop takes the signals, reads the channel, and then handles the signals. If the supervisor ends a master that
    # is not loaded, it writes the word to the channel and then sends TERM. So the master obeys the word before it
    # handles this TERM.
    def loop_of_events
      Loop.new(@events) { |exception| MainThread.survive(exception, @log) }.tap do |events|
        events.at(@workers)
        events.look { @workers.next_look }
        events.at(@progress)
        @companions.each { |one| events.at(one) }
        events.watch(@workers)
        events.watch { @orphaned ? [] : [@channel] }
        events.hear { @channel.hear.each { |word| obey(word) } unless @orphaned }
        events.on("TERM", "QUIT") { |signal| ask_to_leave(signal) }
      end
    end

    # A terminal sends INT to every process of the group; a master ignores INT.
    def ask_to_leave(signal)
      return if @stopping || @progress.parked?

      @log.info("wants to be replaced: SIG#{signal}")
      @channel.say(:leave)
    end

    def obey(word)
      case word
      when :go then @progress.go { @listeners.take_note }
      when :park, :serving, :kill then __send__(word)
      when :drain, :retire, :quit then stop(word)
      when :serve then @progress.begin_again
      when :reopen then reopen_logs
      when :announce, :recall then @listeners.worker_links.draining = word == :announce
      when :renew, :renew_slowly, :more, :fewer then @progress.change(word)
      when :closed then stop_orphaned
      end
    end

    def over? = @stopping && @workers.empty? && @companions.all?(&:empty?)

    # The generation has taken effect. Companions need the application in this process.
    def serving
      @companions.each(&:serve) if @release && !@stopping
    end

    def kill
      @workers.kill
      @companions.each(&:kill)
    end

    # The workers retire. The application stays loaded.
    def park
      @companions.each(&:stop)
      note_end_of_generation(:park)
      @progress.park
    end

    # The master closes its copies of the listeners first. Only the workers then have copies, and they accept the queued
    # connections before they close the copies.
    def stop(how)
      note_end_of_generation(how) unless @stopping || @progress.failed?
      @stopping = true
      @progress.end
      @companions.each { |one| one.stop(at_once: how == :quit) }
      ExitPriority.deadline = (Deadline.new(@config.seconds(:graceful_timeout)) if how == :retire)
      @listeners.close
      @workers.stop(how)
    end

    def reopen_logs
      LogFiles.renew(@config, @log)
      @workers.tell(:reopen)
    end

    def stop_orphaned
      @log.warn("the master stops: its supervisor is gone")
      @orphaned = true
      @listeners.take_over
      stop(:drain)
    end
  end
end
