# frozen_string_literal: true

require_relative "adopted_workers"
require_relative "../sockets/channel"
require_relative "commands"
require_relative "control/arrivals"
require_relative "control/control"
require_relative "control/hang_up"
require_relative "deploys"
require_relative "../system/exit_fence"
require_relative "../system/exit_limit"
require_relative "../system/fork_guard"
require_relative "life_line"
require_relative "../log/log_files"
require_relative "../system/loop"
require_relative "../system/main_thread"
require_relative "../system/signal_queue"
require_relative "../start_failure"
require_relative "state_report"
require_relative "stop"
require_relative "supervisor/answers"
require_relative "supervisor/condition"
require_relative "supervisor/configuration"
require_relative "supervisor/first_start"
require_relative "supervisor/growth"
require_relative "supervisor/orders"
require_relative "supervisor/renewal"
require_relative "supervisor/replacement"
require_relative "../system/working_directory"

module Bontebok
  # The supervisor is the process that the user started, and its pid does not change. It opens the listeners and forks
  # the masters. It never loads the application and serves no requests, so little can make it fail. Under rackup, the
  # process has loaded the application before it becomes the supervisor, and every master inherits this application.
  class Supervisor
    include Answers
    include Configuration
    include FirstStart
    include Growth
    include Orders
    include Replacement

    SIGNALS = %w[TERM QUIT INT HUP USR1 USR2 TTIN TTOU CHLD].freeze

    # release: the Release, if rackup has loaded its application; nil: the masters or the workers load it.
    # service: the ServiceReport.
    def initialize(config, listeners, log:, service:, release: nil)
      @config = config
      @listeners = listeners
      @log = log
      @service = service
      @release = release
      @workers_at_start = config.auto_workers? ? 1 : config.workers
      @serving = Generation::Setup.new(1, VERSION, config, listeners)
      @last_generation = 0
      @seen = {}
      begin_start
    end

    # Returns the exit status; raises StartError.
    def run
      prepare
      work
    ensure
      limit_exit if @release
    end

    # Keeps the server running. Returns the exit status; raises StartError.
    def work
      MainThread.guard { loop_of_events.run { @stop.ends? && @masters.empty? && @adopted.empty? } }
      raise @error if @error

      @log.info("stopped") unless @failed
      @failed ? 1 : 0
    ensure
      @control.close
    end

    private

    def prepare
      Process.setproctitle("bontebok supervisor")
      Channel.log = @log
      make_parts
      ForkGuard.install do
        [@listeners, Channel, StartFailure, Pidfile, @log, *@life_line, *@control.descriptors].each(&:disown)
      end
      @events = SignalQueue.new(*SIGNALS)
      @listeners.bind
      prepare_to_adopt
      @masters = generations
      @condition = Condition.new(@deploys, @masters, @adopted, stop: @stop, renewal: @renewal, release: !@release.nil?,
                                                               starts: -> { @steps.any? })
      @stop.announce if @stop.drains?
      @directory = WorkingDirectory.keep
      StartCommand.enter(@directory) unless @release
      watch_restart_file
    end

    # Raises UsageError.
    def make_parts
      @commands = Commands.new(@log)
      @arrivals = Arrivals.new(@log)
      @renewal = Renewal.new { @listeners.worker_links.serving }
      @report = StateReport.new(@service, @config, @listeners, alive: -> { @condition.alive? }) do
        @condition.describe
      end
      parts = { commands: @commands, log: @log }
      @stop = Stop.new(@config, @listeners, **parts, arrivals: @arrivals, report: @report,
                                                     drains: @drains || Stop.drains?(ENV),
                                                     announce: ->(drains) { announce(drains) }) { |how| stop(how) }
      @control = Control.new(@config, @listeners, **parts, arrivals: @arrivals, stop: @stop) { server_status }
      @hang_up = HangUp.new(@config, **parts, stop: @stop, again: -> { @events.push("HUP") }) { reopen }
      answer_commands
      obey_signals
    end

    # The supervisor adopts the workers of a dead master, and waits for any child to reap them, but not under rackup:
    # this wait could also reap a child that the application waits for.
    def prepare_to_adopt
      @life_line ||= LifeLine.new if !@release && Core.adopt_orphans
      @adopted = AdoptedWorkers.new(@listeners.worker_links, @config, log: @log, forked: ->(pid) { forked?(pid) })
    end

    def loop_of_events
      Loop.new(@events) { |exception| MainThread.survive(exception, @log) }.tap do |events|
        mind_time(events)
        [@masters, @deploys].each { |part| events.watch(part) }
        events.watch { @trial ? @trial.sources : [] }
        events.hear { @deploys.hear }
        @control.connect(events)
        @commands.connect(events)
      end
    end

    def mind_time(events)
      events.at(@masters)
      events.tick { tick_adopted }
      events.limit { @adopted.deadline }
      events.tick { follow_start }
      events.tick { tick_growth }
      events.limit { growth_deadline }
      [@renewal, @stop, @report].each { |part| events.at(part) }
      events.tick { judge_trial }
      events.limit { @trial&.deadline }
      events.limit { Clock.now + Clock::STEP if Channel.full? } # the words that wait are sent again
    end

    def generations
      @deploys = Deploys.new(@serving, @last_generation, log: @log, release: @release, life_line: @life_line,
                                                         descriptors: -> { own_descriptors },
                                                         announces: -> { @stop.announced? },
                                                         effect: ->(generation) { follow(generation) },
                                                         ended: -> { @adopted.take }, control: -> { @control.path })
      @deploys.generations = Generations.new(@deploys, @config, @workers_at_start, @log)
    end

    # What a forked process must close.
    def own_descriptors
      [@events, StartFailure, *@control.descriptors, *@life_line, @deploys, *@trial, *@listeners.other]
    end

    # A generation takes effect: the rest of the supervisor follows.
    def follow(generation)
      @config = generation.setup.config
      @listeners = generation.setup.listeners
      configure
      grow_after_deploy(generation)
    end

    def deploy(reason, **order)
      @service.reload
      return @log.info("#{reason}: the server stops already") if @stop.ends? || @stop.leaves?
      return @log.info("#{reason}: the server still starts") if @steps.any?
      return @log.error("#{reason}: #{Deploys::LOADED}") if @release

      @log.info("#{reason}: a new master is executed")
      @deploys.deploy(**order)
    end

    def obey_signals
      @commands.on("TERM", "QUIT") { @stop.begin(ready: @steps.empty?) }
      @commands.on("INT") { interrupt }
      @commands.on("USR1") { renew_workers(:renew_slowly, "are replaced one after the other") }
      @commands.on("USR2") { |signal| deploy("SIG#{signal}") }
      @commands.on("TTIN", "TTOU") { |signal| count_workers(signal) }
      @commands.on("CHLD") { wait_for_orphans }
      @commands.on(:restart) { deploy("#{@config[:restart_file]} has changed") }
    end

    def tick_adopted
      @adopted.kill_late_ones
      @adopted.keep(@masters.whole? ? 0 : @masters.workers) unless @stop.ends?
    end

    # The masters tell workers that are not on the supervisor's scoreboard (see Successor#worker_links).
    def announce(drains)
      @masters.tell(drains ? :announce : :recall)
    end

    # Reaps all ended children. The kernel makes the supervisor the parent of processes without a parent: workers of a
    # dead master, or daemons of the application. The loop may also reap a master.
    def wait_for_orphans
      return unless @life_line || Process.pid == 1

      while (pid, status = Process.wait2(-1, Process::WNOHANG))
        @masters.ended(pid, status)
        @adopted.ended(pid, status)
        @trial&.ended(pid, status)
      end
    rescue Errno::ECHILD
      nil
    end

    # Stops the server. how: :drain, :retire or :quit. Closes the supervisor's copies of the listeners and unlinks the
    # unix sockets. During a stop, only the first :quit has an effect.
    def stop(how)
      return if [how, :quit].include?(@stop.how)

      @stop.end(how)
      @log.info("stopping#{' at once' if how == :quit}") if @listeners.listening?
      @deploys.discard("the server stops")
      end_trial("the server stops") if @trial
      @listeners.close
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
      status = @failed || @error ? 1 : 0
      Signal.trap("INT", @stop&.how == :quit ? proc { exit!(status) } : "SYSTEM_DEFAULT")
      ExitLimit.set(@config.seconds(:graceful_timeout), status: status, log: @log)
    end
  end
end
