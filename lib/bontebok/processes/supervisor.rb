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
require_relative "restart_file"
require_relative "stop"
require_relative "supervisor/condition"
require_relative "supervisor/deploy_orders"
require_relative "supervisor/first_start"
require_relative "supervisor/growth"
require_relative "supervisor/replacement"
require_relative "supervisor/worker_orders"
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
    # version of the one that serves. seen: see RestartFile.
    Known = Struct.new(:last, :serving, :workers, :drains, :life_line, :seen)
    private_constant :Known

    # release: the Release, if rackup has loaded its application; nil: the masters or the workers load it.
    # service: the ServiceReport.
    def initialize(config, listeners, log:, service:, release: nil)
      @effective = Effective.new(config, listeners)
      @log = log
      @service = service
      @release = release
      @began = Clock.now
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
      prepare(Known.new(*state.values_at("generation", "serving", "workers", "drains"), life_line,
                        state["restart_file"]))
      @start.skip
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
      watch_restart_file(known.seen)
    end

    # Masters also tell workers that are not on the supervisor's scoreboard (see Successor#worker_links).
    def make_stop(known)
      @commands = Commands.new(@log)
      @arrivals = Arrivals.new(@log)
      @service.connect(@effective, alive: -> { @condition.alive? }) { @condition.describe }
      announce = ->(drains) { @masters.tell(drains ? :announce : :recall) }
      @stop = Stop.new(@effective, commands: @commands, arrivals: @arrivals, service: @service, log: @log,
                                   drains: known.drains || Stop.drains?(ENV), announce: announce) { |how| stop(how) }
    end

    def make_control
      parts = { commands: @commands, stop: @stop, log: @log }
      @control = Control.new(@effective, **parts, arrivals: @arrivals) { @condition.show }
      @hang_up = HangUp.new(@effective, **parts, again: -> { @events.push("HUP") }) { @workers.renew }
      @commands.on("TERM", "QUIT") { @stop.begin(ready: !@start.under_way?) }
      @commands.on("INT") { interrupt }
    end

    # The kernel makes the supervisor the parent of workers whose master has died, and of daemons of the application.
    # Not under rackup, because a wait for any child could reap a child that the application waits for.
    def adopt(known)
      @life_line = known.life_line || (LifeLine.new if !@release && Core.adopt_orphans)
      forked = ->(pid) { @masters.pid?(pid) || @replacement.trial&.pid == pid }
      @adopted = AdoptedWorkers.new(listeners.worker_links, config, log: @log, forked: forked) do
        @masters.whole? ? 0 : @masters.workers # they serve until all workers of the next master are ready
      end
      @commands.on("CHLD") { reap } if @life_line || Process.pid == 1
    end

    def make_generations(known)
      serving = Generation::Setup.new(*known.serving, config, listeners)
      @deploys = Deploys.new(serving, known.last, @adopted, control: @control, stop: @stop, log: @log,
                                                            release: @release, life_line: @life_line,
                                                            descriptors: -> { descriptors }) { |one| follow(one) }
      @masters = @deploys.generations = Generations.new(@deploys, config, known.workers, @log)
    end

    # A forked master must close these. A program that is executed has none of them (close-on-exec).
    def descriptors = [@events, StartFailure, Pidfile, *@control.descriptors, *@life_line, *listeners.other]

    def connect_parts
      parts = { commands: @commands, stop: @stop, service: @service, log: @log }
      @workers = WorkerOrders.new(@deploys, @masters, @adopted, **parts)
      @growth = Growth.new(@deploys, @masters, @stop, @log)
      @start = FirstStart.new(@deploys, @masters, @growth, control: @control, stop: @stop, log: @log,
                                                           began: @began) { stop(:quit) }
      @condition = Condition.new(@deploys, @masters, @adopted, stop: @stop, start: @start, workers: @workers)
      orders = DeployOrders.new(@deploys, @masters, @start, **parts) { |client| @replacement.begin(client) }
      @replacement = Replacement.new(@events, @deploys, @masters, orders, arrivals: @arrivals, service: @service,
                                                                          stop: @stop, log: @log) do |more = {}|
        state_to_pass(more)
      end
    end

    def loop_of_events
      Loop.new(@events) { |exception| MainThread.survive(exception, @log) }.tap do |events|
        [@masters, @adopted, @start, @growth, @workers, @stop, @service, @replacement].each { |part| events.at(part) }
        events.limit { Clock.now + Clock::STEP if Channel.full? } # the words that wait are sent again
        [@masters, @deploys, @replacement].each { |part| events.watch(part) }
        events.hear { @deploys.hear }
        @control.connect(events)
        @commands.connect(events)
      end
    end

    # A generation takes effect: the rest of the supervisor follows.
    def follow(generation)
      @effective.config, @effective.listeners = generation.setup.to_a.last(2)
      configure
      @growth.begin_after_deploy(generation) if generation.rollout&.grows?
    end

    # An error in one part must not end the supervisor.
    def configure
      [-> { WorkingDirectory.enter_again(@log) }, -> { LogFiles.renew(config, @log) },
       -> { @log.configure(format: config[:log_format], level: config[:log_level]) },
       *[@masters, @adopted].map { |part| -> { part.configure(config) } },
       -> { watch_restart_file }, -> { @control.move }].each do |step|
        step.call
      rescue StandardError => e
        @log.error("a part of the new configuration has no effect", e)
      end
    end

    # seen: what the former program of this process has seen; nil: there is none.
    def watch_restart_file(seen = nil)
      path = config[:restart_file]&.then { |name| File.expand_path(name, @directory) }
      return if @restart_file&.watches?(path)

      @restart_file&.stop
      @restart_file = path && RestartFile.watch(path, **{ seen: seen }.compact) { @events.push(:restart) }
    end

    # Reaps all ended children, perhaps also a master.
    def reap
      while (pid, status = Process.wait2(-1, Process::WNOHANG))
        [@masters, @adopted].each { |part| part.ended(pid, status) }
        @replacement.trial.ended(status) if @replacement.trial&.pid == pid
      end
    rescue Errno::ECHILD
      nil
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
      status = @start&.failed? ? 1 : 0
      Signal.trap("INT", @stop&.how == :quit ? proc { exit!(status) } : "SYSTEM_DEFAULT")
      ExitLimit.set(config.seconds(:graceful_timeout), status: status, log: @log)
    end

    # For a program that takes the place of this one.
    def state_to_pass(values)
      State.gather(config, listeners, @deploys, @masters,
                   "directory" => @directory, "drains" => @stop.drains?, "restart_file" => @restart_file&.seen,
                   "life_line" => @life_line&.ends&.map(&:fileno),
                   "control" => @control.listener&.then { |one| PassedListeners.number([one]) }, **values)
    end
  end
end
