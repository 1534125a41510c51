# frozen_string_literal: true

require_relative "adopted_workers"
require_relative "../sockets/channel"
require_relative "control/control"
require_relative "control/hang_up"
require_relative "drain_delay"
require_relative "../system/exit_fence"
require_relative "../system/exit_limit"
require_relative "../system/fork_guard"
require_relative "life_line"
require_relative "../log/log_files"
require_relative "../system/main_thread"
require_relative "../system/signal_queue"
require_relative "../start_failure"
require_relative "supervisor/commands"
require_relative "deploys"
require_relative "supervisor/configuration"
require_relative "supervisor/first_start"
require_relative "supervisor/growth"
require_relative "supervisor/leaving"
require_relative "supervisor/orders"
require_relative "supervisor/replacement"
require_relative "supervisor/service"
require_relative "../system/working_directory"

module Bontebok
  # The supervisor is the process that the user started, and its pid does not change. It opens the listeners and forks
  # the masters. It never loads the application and serves no requests, so little can make it fail. Under rackup, the
  # process has loaded the application before it becomes the supervisor, and every master inherits this application.
  class Supervisor
    include Control
    include Commands
    include Configuration
    include FirstStart
    include Growth
    include HangUp
    include Leaving
    include Orders
    include Replacement
    include Service

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
      @terminal = Terminal.new
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
      MainThread.guard { tick_masters }
      raise @error if @error

      @log.info("stopped") unless @failed
      @failed ? 1 : 0
    ensure
      close_control
    end

    private

    def prepare
      Process.setproctitle("bontebok supervisor")
      Channel.log = @log
      inherit_commands
      ForkGuard.install do
        [@listeners, Channel, StartFailure, Pidfile, @log, *@life_line, *@control, *@newcomers].each(&:disown)
      end
      @events = SignalQueue.new(*SIGNALS)
      @listeners.bind
      @drain_delay = DrainDelay.new(@config.seconds(:drain_delay), method(:announce), log: @log) { leave }
      prepare_to_adopt
      @masters = generations
      announce(@drains) if @drains
      @directory = WorkingDirectory.keep
      StartCommand.enter(@directory) unless @release
      watch_restart_file
    end

    # The supervisor adopts the workers of a dead master, and waits for any child to reap them, but not under rackup:
    # this wait could also reap a child that the application waits for.
    def prepare_to_adopt
      @life_line ||= LifeLine.new if !@release && Core.adopt_orphans
      @adopted = AdoptedWorkers.new(@listeners.worker_links, @config, log: @log, forked: method(:forked?))
    end

    def tick_masters
      loop do
        @masters.tick
        tick_adopted
        follow_start
        tick_growth
        @drain_delay.tick
        tick_service
        tick_control
        tick_departure
        break if @stopping && @masters.empty? && @adopted.empty?

        wait_for_events
        @deploys.hear
        judge_trial
        take_commands
        hear_newcomers
        @events.take.each { |signal| handle(signal) }
      end
    end

    def wait_for_events
      sources = [@events, *@masters.sources, *@control&.sources, *@newcomers, *@deploys.sources, *@trial&.sources]
      MainThread.wait(sources, seconds_to_wait) do |exception|
        MainThread.survive(exception, @log)
      end
    end

    def seconds_to_wait
      time = [@masters.deadline, next_deadline, (Clock.now + Clock::STEP if Channel.full?)].compact.min
      time && (time - Clock.now).clamp(0, Clock::STEP)
    end

    def generations
      @deploys = Deploys.new(@serving, @last_generation, log: @log, release: @release, life_line: @life_line,
                                                         descriptors: method(:own_descriptors),
                                                         announces: -> { @drains || @drain_delay.begun? },
                                                         effect: method(:follow), ended: -> { @adopted.take },
                                                         control: -> { @control&.path })
      @deploys.generations = Generations.new(@deploys, @config, @workers_at_start, @log)
    end

    # What a forked process must close.
    def own_descriptors
      [@events, StartFailure, *@control, *@newcomers, *@life_line, @deploys, *@trial, *@listeners.other,
       *@starting_client]
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
      return @log.info("#{reason}: the server stops already") if @stopping || @departure
      return @log.info("#{reason}: the server still starts") if @steps.any?
      return @log.error("#{reason}: #{Deploys::LOADED}") if @release

      @log.info("#{reason}: a new master is executed")
      @deploys.deploy(**order)
    end

    def tick_adopted
      @adopted.kill_late_ones
      @adopted.keep(@masters.whole? ? 0 : @masters.workers) unless @stopping
    end

    def handle(signal)
      case signal
      when "TERM", "QUIT" then @drain_delay.begin(ready: @steps.empty?)
      when "INT" then interrupt
      when "HUP" then hang_up
      when "USR1" then renew_workers(:renew_slowly, "are replaced one after the other")
      when "USR2" then deploy("SIGUSR2")
      when "TTIN", "TTOU" then count_workers(signal)
      when "CHLD" then wait_for_orphans
      when :restart then deploy("#{@config[:restart_file]} has changed")
      end
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
      return if [how, :quit].include?(@stopping)

      announce_end
      @log.info("stopping#{' at once' if how == :quit}") if @listeners.listening?
      @stopping = how
      @deploys.discard("the server stops")
      end_trial("the server stops") if @trial
      @listeners.close
      [@masters, @adopted].each { |children| children.stop(how) }
    end

    # On the second INT, the master kills its workers at once, and the supervisor kills the adopted workers.
    def interrupt
      return stop(:quit) unless @stopping == :quit

      @log.warn("stopping with SIGKILL")
      [@masters, @adopted].each { |children| children.stop(:kill_children) }
    end

    # Under rackup, this process has the application's exit handlers and threads. INT ends the process without waiting
    # for them. If INT has begun the stop, another INT does not change the exit status.
    def limit_exit
      status = @failed || @error ? 1 : 0
      Signal.trap("INT", @stopping == :quit ? proc { exit!(status) } : "SYSTEM_DEFAULT")
      ExitLimit.set(@config.seconds(:graceful_timeout), status: status, log: @log)
    end
  end
end
