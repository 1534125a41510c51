# frozen_string_literal: true

require_relative "adopted_workers"
require_relative "commands"
require_relative "control/arrivals"
require_relative "control/control"
require_relative "control/hang_up"
require_relative "deploys"
require_relative "effective"
require_relative "life_line"
require_relative "pidfile"
require_relative "state_report"
require_relative "stop"
require_relative "supervisor/condition"
require_relative "supervisor/deploy_orders"
require_relative "supervisor/first_start"
require_relative "supervisor/growth"
require_relative "supervisor/orphans"
require_relative "supervisor/renewal"
require_relative "supervisor/replacement"
require_relative "supervisor/restart_watch"
require_relative "supervisor/worker_count"
require_relative "../log/log_files"
require_relative "../sockets/channel"
require_relative "../start_failure"
require_relative "../system/clock"
require_relative "../system/early_signals"
require_relative "../system/exit_limit"
require_relative "../system/fork_guard"
require_relative "../system/loop"
require_relative "../system/main_thread"
require_relative "../system/signal_queue"
require_relative "../system/working_directory"

module Bontebok
  # The supervisor is the process that the user started, and its pid does not change. It opens the listeners and forks
  # the masters. It never loads the application and serves no requests, so little can make it fail. Under rackup, the
  # process has loaded the application before it becomes the supervisor, and every master inherits this application.
  # This class connects the parts.
  class Supervisor
    # The facts that a new supervisor begins with. last: the number of the last generation. serving: the number and the
    # version of the one that serves. seen: see RestartWatch.
    Known = Struct.new(:last, :serving, :workers, :drains, :life_line, :seen)
    private_constant :Known

    # release: the Release, if rackup has loaded its application; nil: the masters or the workers load it.
    # service: the ServiceReport.
    def initialize(config, listeners, log:, service:, release: nil)
      @effective = Effective.new(config, listeners)
      @log = log
      @service = service
      @release = release
      @start = FirstStart.new(log)
    end

    # Returns the exit status; raises StartError.
    def run
      prepare(Known.new(0, [1, VERSION], config.auto_workers? ? 1 : config.workers))
      work
    ensure
      limit_exit if @release
    end

    # Called in a program that has taken the place of another one, instead of #run. From now on the supervisor handles
    # the signals, and only #work can fail. state: the State.
    def resume(state)
      life_line = LifeLine.new(state.copies("life_line")) if state["life_line"]
      @start.skip
      prepare(Known.new(*state.values_at("generation", "serving", "workers", "drains"), life_line,
                        state["restart_file"]))
      listeners.take_effect(listeners)
      @masters.restore(state.masters, @deploys.serving)
      state.listeners("control").each { |listener| @control.take(listener) }
      @adopted.take
      [*state["signals"], *EarlySignals.take].each { |name| @events.push(name) }
    end

    # Keeps the server running. Returns the exit status; raises StartError.
    def work
      MainThread.guard { loop_of_events.run { @stop.ends? && @masters.empty? && @adopted.empty? } }
      raise @start.error if @start.error

      @log.info("stopped") unless @start.failed?
      @start.failed? ? 1 : 0
    ensure
      @control.close
    end

    private

    def config = @effective.config
    def listeners = @effective.listeners

    def prepare(known)
      Process.setproctitle("bontebok supervisor")
      Channel.log = @log
      make_stop(known)
      make_control
      ForkGuard.install do
        [listeners, Channel, StartFailure, Pidfile, @log, *@life_line, *@control.descriptors].each(&:disown)
      end
      @events = SignalQueue.new(*HeldSignals::SIGNALS)
      listeners.bind
      adopt(known)
      make_generations(known)
      connect_parts
      @stop.announce if @stop.drains?
      @directory = WorkingDirectory.keep
      StartCommand.enter(@directory) unless @release
      @restart_watch = RestartWatch.new(@directory, known.seen) { @events.push(:restart) }
      @restart_watch.configure(config)
    end

    # Masters also tell workers that are not on the supervisor's scoreboard (see Successor#worker_links).
    def make_stop(known)
      @commands = Commands.new(@log)
      @arrivals = Arrivals.new(@log)
      @report = StateReport.new(@service, @effective, alive: -> { @condition.alive? }) { @condition.describe }
      announce = ->(drains) { @masters.tell(drains ? :announce : :recall) }
      @stop = Stop.new(@effective, commands: @commands, arrivals: @arrivals, report: @report, log: @log,
                                   drains: known.drains || Stop.drains?(ENV), announce: announce) { |how| stop(how) }
    end

    def make_control
      parts = { commands: @commands, stop: @stop, log: @log }
      @control = Control.new(@effective, **parts, arrivals: @arrivals) { @condition.show }
      @hang_up = HangUp.new(@effective, **parts, again: -> { @events.push("HUP") }) { @renewal.renew }
      @commands.on("TERM", "QUIT") { @stop.begin(ready: !@start.under_way?) }
      @commands.on("INT") { interrupt }
    end

    # The supervisor adopts the workers of a dead master, but not under rackup (see Orphans). Children that it has not
    # forked come from dead masters.
    def adopt(known)
      @life_line = known.life_line || (LifeLine.new if !@release && Core.adopt_orphans)
      forked = ->(pid) { @masters.pid?(pid) || @replacement.pid?(pid) }
      @adopted = AdoptedWorkers.new(listeners.worker_links, config, log: @log, forked: forked)
    end

    def make_generations(known)
      serving = Generation::Setup.new(*known.serving, config, listeners)
      @deploys = Deploys.new(serving, known.last, log: @log, release: @release, life_line: @life_line,
                                                  descriptors: -> { descriptors }, announces: -> { @stop.announced? },
                                                  effect: ->(generation) { follow(generation) },
                                                  ended: -> { @adopted.take }, control: -> { @control.path })
      @masters = @deploys.generations = Generations.new(@deploys, config, known.workers, @log)
    end

    # What a forked process must close.
    def descriptors
      [@events, StartFailure, Pidfile, *@control.descriptors, *@life_line, @deploys, @replacement, *listeners.other]
    end

    def connect_parts
      parts = { commands: @commands, stop: @stop, service: @service, log: @log }
      loaded = !@release.nil?
      @renewal = Renewal.new(@deploys, @masters, @adopted, **parts)
      @condition = Condition.new(@deploys, @masters, @adopted, stop: @stop, start: @start, renewal: @renewal,
                                                               loaded: loaded)
      @growth = Growth.new(@deploys, @masters, @condition, @stop, @log, alone: loaded)
      @start.connect(@deploys, @masters, control: @control, growth: @growth, stop: @stop, fail: -> { stop(:quit) })
      WorkerCount.new(@masters, @commands, @log)
      @orders = DeployOrders.new(@deploys, @masters, **parts, start: @start, loaded: loaded) do |client|
        @replacement.begin(client)
      end
      @replacement = Replacement.new(@events, @deploys, @masters, stop: @stop, arrivals: @arrivals, loaded: loaded,
                                                                  busy: -> { @orders.busy? }, log: @log,
                                                                  variables: @service.variables,
                                                                  descriptors: -> { descriptors }) do |values = {}|
        state_to_pass(values)
      end
      @orphans = Orphans.new(@adopted, @masters, @replacement, commands: @commands, stop: @stop,
                                                               reaps: @life_line || Process.pid == 1)
    end

    def loop_of_events
      Loop.new(@events) { |exception| MainThread.survive(exception, @log) }.tap do |events|
        mind_time(events)
        [@masters, @deploys, @replacement].each { |part| events.watch(part) }
        events.hear { @deploys.hear }
        @control.connect(events)
        @commands.connect(events)
      end
    end

    def mind_time(events)
      events.at(@masters)
      events.at(@orphans)
      events.tick { @start.tick }
      [@growth, @renewal, @stop, @report, @replacement].each { |part| events.at(part) }
      events.limit { Clock.now + Clock::STEP if Channel.full? } # the words that wait are sent again
    end

    # A generation takes effect: the rest of the supervisor follows.
    def follow(generation)
      @effective.config, @effective.listeners = generation.setup.to_a.last(2)
      configure
      @growth.begin_after_deploy(generation)
    end

    # An error in one part must not end the supervisor.
    def configure
      [-> { WorkingDirectory.enter_again(@log) }, -> { LogFiles.renew(config, @log) },
       -> { @log.configure(format: config[:log_format], level: config[:log_level]) },
       *[@masters, @adopted, @restart_watch].map { |part| -> { part.configure(config) } },
       -> { @control.move }].each do |step|
        step.call
      rescue StandardError => e
        @log.error("a part of the new configuration has no effect", e)
      end
    end

    # Stops the server. how: :drain, :retire or :quit. Closes the supervisor's copies of the listeners and unlinks the
    # unix sockets. During a stop, only the first :quit has an effect.
    def stop(how)
      return if [how, :quit].include?(@stop.how)

      @stop.end(how)
      @log.info("stopping#{' at once' if how == :quit}") if listeners.listening?
      @deploys.discard("the server stops")
      @replacement.fail("the server stops")
      listeners.close
      [@masters, @adopted].each { |children| children.stop(how) }
    end

    # On the second INT, the master kills its workers at once, and the supervisor kills the adopted workers.
    def interrupt
      return stop(:quit) unless @stop.how == :quit

      @log.warn("stopping with SIGKILL")
      [@masters, @adopted].each { |children| children.stop(:kill_children) }
    end

    # Under rackup, this process has the application's exit handlers and threads. INT ends the process without waiting
    # for them. If INT has begun the stop, another INT does not change the exit status.
    def limit_exit
      status = @start.failed? || @start.error ? 1 : 0
      Signal.trap("INT", @stop&.how == :quit ? proc { exit!(status) } : "SYSTEM_DEFAULT")
      ExitLimit.set(config.seconds(:graceful_timeout), status: status, log: @log)
    end

    # For a program that takes the place of this one.
    def state_to_pass(values)
      State.gather(config, listeners, @deploys, @masters,
                   "directory" => @directory, "drains" => @stop.drains?, "restart_file" => @restart_watch.seen,
                   "life_line" => @life_line&.ends&.map(&:fileno),
                   "control" => @control.listener&.then { |one| PassedListeners.number([one]) }, **values)
    end
  end
end
