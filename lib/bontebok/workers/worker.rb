# frozen_string_literal: true

require_relative "../sockets/channel"
require_relative "child_loading"
require_relative "../system/deadline"
require_relative "../system/exit_limit"
require_relative "exit_priority"
require_relative "../system/fork_guard"
require_relative "heartbeat"
require_relative "../config/hooks"
require_relative "lanes"
require_relative "../log/log_files"
require_relative "../system/loop"
require_relative "../system/main_thread"
require_relative "parent"
require_relative "../system/process_memory"
require_relative "../system/quiet_signals"
require_relative "readiness_check"
require_relative "recycling"
require_relative "release"
require_relative "../system/signal_queue"
require_relative "worker_title"

module Bontebok
  # A worker process, forked by Master. It loads the application unless the master has loaded it. It serves until its
  # parent tells it to end, or until both master and supervisor have died. This class runs in the main thread; the lanes
  # (see Lanes) have threads of their own.
  #
  # On TERM or QUIT from another process, the worker only asks the master to replace it. A terminal sends INT to every
  # process of the group; the worker ignores INT. Only a worker whose master has died obeys signals (see Parent).
  class Worker
    SIGNALS = %w[TERM QUIT INT HUP].freeze

    # turns: OutOfBandTurns; nil: there is no out-of-band work. life_line: for Parent. on_trial: the worker must answer
    # its own health check, because a former generation can serve in its place. together: the worker serves when its
    # parent says so (see Children::Rules#together=).
    def initialize(config, listeners, number:, generation:, channel:, log:, turns: nil, life_line: nil,
                   on_trial: false, together: false)
      @config = config
      @listeners = listeners
      @number = number
      @generation = generation
      @channel = channel
      @log = log
      @turns = turns
      @life_line = life_line
      @on_trial = on_trial
      @together = together
    end

    # release: the Release, if the master has loaded it; nil: the worker loads it. Returns the exit status.
    def run(release)
      @title = WorkerTitle.new(@number, @generation, @config[:tag])
      @began = Clock.now
      ForkGuard.install { [@listeners, Channel, ChildLoading, QuietSignals, @log, *@turns, *@life_line].each(&:disown) }
      release = prepare(release)
      @events = SignalQueue.new(*SIGNALS)
      @channel.say(:loaded)
      words = ChildLoading.wait_for(:go, @channel)
      words &&= get_ready(release, words)
      words ? serve(release, words) : 0
    rescue AppLoader::Failed, Hooks::Failed, ReadinessCheck::Failed => e
      @log.error(e.message, e.cause)
      1
    rescue StandardError, Interrupt => e
      @log.error("cannot serve", e)
      1
    ensure
      ExitLimit.set(@deadline ? @deadline.left : @config.seconds(:graceful_timeout), status: 1, log: @log)
      @config.hooks.attempt(:before_worker_exit, itself_for_hooks, log: @log) if @lanes
    end

    private

    def itself_for_hooks = Hooks::Worker.new(@number, Process.pid, @lanes ? @lanes.requests : 0)

    # Returns the release.
    def prepare(release)
      return release unless release.nil? || @config.hooks.any?(:after_fork)

      ChildLoading.guard(channel: @channel, signals: SIGNALS, log: @log) do
        @config.hooks.run(:after_fork, itself_for_hooks)
        release || Release.load(@config, @log)
      end
    end

    # Runs the hook and the check of a ready worker. Returns the words that have arrived; nil: the process must end. The
    # worker logs nothing before this line, so a failed start logs only the failure.
    def get_ready(release, words)
      @log.info("started #{milliseconds} ms ago")
      words += run_ready_hook + check_readiness(release)
      return words unless @together

      @channel.say(:prepared)
      ChildLoading.wait_for(:serve, @channel, words)
    end

    def run_ready_hook
      return [] unless @config.hooks.any?(:after_worker_ready)

      ChildLoading.attend(@channel, @log) { @config.hooks.run(:after_worker_ready, itself_for_hooks) }
    end

    def check_readiness(release)
      check = ReadinessCheck.new(@config, release, log: @log)
      return [] unless check.wanted?

      ChildLoading.attend(@channel, @log) { check.run }
    rescue ReadinessCheck::Failed => e
      raise if @on_trial

      @log.warn(e.message)
      []
    end

    def serve(release, words)
      @lanes = Lanes.new(@config, @listeners, release, worker: itself_for_hooks, log: @log, events: @events,
                                                       turns: @turns, generation: @generation, channel: @channel)
      @recycling = Recycling.new(@config, log: @log)
      MainThread.guard do
        @lanes.start { note_ready }
        @serving = true
        @lanes.process.outlive { begin_to_obey(words) } until @parent && words.empty?
        @lanes.process.outlive { loop_of_events.run { !@serving } } while @serving
        @lanes.join unless @quit
        log_end
      end
      0
    end

    # Called before the first request. This request may keep Ruby's lock, or end the process.
    def note_ready
      @heartbeat = Heartbeat.new(@lanes, @title, @config.seconds(:worker_timeout))
      @log.info("ready after #{milliseconds} ms")
      @log.dismiss_witness
      @channel.say(:ready)
    end

    # Reads the channel directly, not through Parent. If the master has died before this point, the supervisor may have
    # read the scoreboard before this worker's lanes were there. Then it has not adopted this worker, which must end.
    def begin_to_obey(words)
      @parent = Parent.new(@channel, @life_line, @listeners.worker_links)
      words.concat(@channel.hear)
      obey(words.shift) while words.any?
    end

    def milliseconds = ((Clock.now - @began) * 1000).round

    # The master also logs the end, because a killed worker cannot.
    def log_end
      requests = "#{@lanes.requests} request#{"s" unless @lanes.requests == 1}"
      @log.info(["ends after #{(Clock.now - @began).round(1)} s", requests, *ProcessMemory.read&.to_s].join(", "))
    end

    def loop_of_events
      Loop.new(@events) { |error| @lanes.process.interrupted(error) }.tap do |events|
        mind_time(events)
        events.watch { [@lanes.request_limits, *([@parent] unless @deadline)] }
        events.hear { @parent.hear.each { |word| obey(word) } unless @deadline }
        events.hear { @lanes.request_limits.tick if events.ready?(@lanes.request_limits) }
        events.on(*SIGNALS, :lanes_ended, :busy, :max_requests, :leave) { |event| handle(event) }
      end
    end

    def mind_time(events)
      events.tick { @heartbeat.tick }
      events.look { @heartbeat.deadline }
      events.tick { @recycling.reason&.then { |reason| ask_to_leave(*reason) } }
      events.look { @recycling.deadline }
      events.tick { give_up if @serving && @deadline&.over? }
      events.limit { @deadline&.time }
      events.tick { @serving = false if @lanes.detached.over? }
      events.limit { @lanes.detached.deadline }
    end

    def handle(event)
      word = @parent.word(event) and return obey(word)
      case event
      when :lanes_ended then @lanes.detached.wait? ? wait_for_detached : @serving = false
      when :busy then @heartbeat.busy
      when :max_requests then ask_to_leave(:max_requests, "max requests #{@lanes.request_limit} reached")
      when :leave then ask_for(:application)
      when "TERM", "QUIT" then ask_to_leave(:signal, "SIG#{event}")
      end
    end

    # Not called for the event :leave, because the log has its reason already. A worker that was told to end does not
    # ask, because the TERM may come from the parent that told it to end (see Children::Child#leave).
    def ask_to_leave(cause, reason)
      return if @leaving

      @log.info("wants to be replaced: #{reason}")
      ask_for(cause)
    end

    # cause: a word of Channel.
    def ask_for(cause) = [cause, :leave].each { |word| @channel.say(word) }

    def obey(word)
      case word
      when :drain, :retire then finish(word)
      when :hurry then ExitPriority.deadline = nil
      when :quit then quit
      when :reopen then reopen_logs
      when :adopted then @log.warn("the master is gone: serves until other workers are ready") unless @leaving
      when :closed then leave_orphaned
      end
    end

    def finish(how)
      @leaving = true
      ExitPriority.deadline = (Deadline.new(@config.seconds(:graceful_timeout)) if how == :retire)
      @title.draining
      @lanes.public_send(how)
    end

    def reopen_logs
      LogFiles.renew(@config, @log)
      @lanes.reopen_logs
    end

    def quit
      @leaving = @quit = true
      ExitPriority.deadline = nil
      @serving = false
    end

    # After the wait, the worker has a second to end (see Children).
    def wait_for_detached
      ExitPriority.deadline = nil
      @channel.say(:waits)
    end

    # No parent is left that would kill the worker, so the worker limits its own time.
    def leave_orphaned
      @log.warn("leaves: the master is gone")
      @deadline = Deadline.new(@config.seconds(:graceful_timeout))
      finish(:drain)
    end

    def give_up
      @log.error("did not finish within #{@config.seconds(:graceful_timeout)} s")
    ensure
      exit!(1)
    end
  end
end
