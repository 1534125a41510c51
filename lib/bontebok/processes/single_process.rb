# frozen_string_literal: true

require "io/wait"

require_relative "../system/clock"
require_relative "control/control"
require_relative "control/hang_up"
require_relative "drain_delay"
require_relative "../system/exit_limit"
require_relative "../system/fork_guard"
require_relative "../config/hooks"
require_relative "../workers/heartbeat"
require_relative "../workers/lanes"
require_relative "../workers/release"
require_relative "../log/log_files"
require_relative "../system/loop"
require_relative "../system/main_thread"
require_relative "../system/signal_queue"
require_relative "../workers/stats/this_server"
require_relative "single_process/commands"
require_relative "single_process/ending"
require_relative "single_process/in_place_deploy"
require_relative "single_process/loading"
require_relative "single_process/service"
require_relative "../start_error"
require_relative "../start_failure"
require_relative "start_lines"

module Bontebok
  # The server with `-w 0`: supervisor, master and worker are one process, which never forks. The application may use
  # the terminal. This class is for debuggers, and for platforms that require a single process.
  class SingleProcess
    include Control
    include Commands
    include Ending
    include HangUp
    include InPlaceDeploy
    include Loading
    include Service

    # TTIN and TTOU are not handled, because they belong to the terminal's job control.
    SIGNALS = %w[TERM QUIT INT HUP USR1 USR2].freeze

    # release: the Release, if rackup has loaded its application; nil: this class loads it.
    # service: the ServiceReport.
    def initialize(config, listeners, log:, service:, release: nil)
      @config = config
      @listeners = listeners
      @log = log
      @service = service
      @release = release
      @status = 1
      @interrupted = false
      @terminal = Terminal.new
      @began = Clock.now
    end

    # Returns the exit status: 0 only if a signal or the application told the process to end. Raises StartError.
    def run
      status = run_to_end do
        prepare
        @config.account.assume
        @release ||= load_release
      end
      while @kept
        ended = execute_again
        return ended if ended

        ExitLimit.lift(@exit_limit)
        status = run_to_end { take_back }
      end
      status
    end

    private

    # The block prepares the process to serve.
    def run_to_end
      note_restart_file
      yield
      MainThread.guard { serve }
      @log.info("stopped") unless @kept
      @status
    rescue AppLoader::Failed => e
      @log.error(e.message, e.cause)
      @status
    rescue ThreadError => e
      raise StartError, "no room for threads: #{e.message}"
    ensure
      close_control
      @listeners.unlink
      limit_exit
      @config.hooks.attempt(:after_stopped, log: @log) if @lanes
    end

    def prepare
      Process.setproctitle("bontebok")
      inherit_commands
      ForkGuard.install do
        [@listeners, StartFailure, Pidfile, @log, *@control, *@newcomers, *@starting_client, *@waiting_client]
          .each(&:disown)
      end
      @events = SignalQueue.new(*SIGNALS)
      StartCommand.enter(WorkingDirectory.name) if StartCommand.noted?
      @listeners.bind
      ThisServer.is(links: @listeners.worker_links, config: @config, mode: "single", pid: Process.pid, generation: 1)
      announce(@drains)
      @drain_delay = DrainDelay.new(@config.seconds(:drain_delay), method(:announce), log: @log) { leave }
    end

    # Only opens the logs again, because there are no workers to replace.
    def reopen
      @service.reload
      LogFiles.renew(@config, @log)
      @lanes&.reopen_logs
      @log.info("log files are opened again")
    end

    def serve
      watch_restart_file
      @config.account.act { @listeners.listen }
      @lanes = Lanes.new(@config, @listeners, @release, worker: itself_for_hooks, log: @log, events: @events)
      @lanes.start
      @heartbeat = Heartbeat.new(@lanes, nil, 0)
      StartLines.write(@log, @config, @listeners)
      open_control
      @listeners.own
      StartLines.write_ready(@log, @config, @listeners, @began)
      StartFailure.close
      @log.dismiss_witness
      @serving = true
      note_serving
      finish_deploy
      run_booted_hook
      loop_of_events.run { !@serving }
    end

    # The hook runs without the guard of MainThread. A thread that the hook starts would inherit the guard, and Timeout
    # could not interrupt that thread.
    def run_booted_hook
      MainThread.unguard { @config.hooks.attempt(:on_booted, log: @log) }
    rescue Exception => e # rubocop:disable Lint/RescueException
      @lanes.process.interrupted(e)
    end

    def itself_for_hooks
      Hooks::Worker.new(1, Process.pid)
    end

    def loop_of_events
      Loop.new(@events) { |exception| @lanes.process.interrupted(exception) }.tap do |events|
        mind_time(events)
        events.watch { [@lanes.request_limits, *@control&.sources, *@newcomers] }
        events.hear { @lanes.request_limits.tick if events.ready?(@lanes.request_limits) }
        events.hear { take_commands }
        events.hear { hear_newcomers }
        events.on(*SIGNALS, :lanes_ended, :busy, :leave, :restart) { |event| handle(event) }
      end
    end

    def mind_time(events)
      events.tick { @heartbeat.tick }
      events.look { @heartbeat.deadline }
      events.at(@drain_delay)
      events.tick { tick_service }
      events.limit { @service.deadline }
      events.tick { tick_control }
      events.limit { control_deadline }
      events.tick { tick_end }
      events.limit { end_deadline }
    end

    def hear_lanes(event)
      event == :busy ? @heartbeat.busy : @serving = @lanes.detached.wait?
    end

    # The event :max_requests is ignored, because no other process could replace this process.
    def handle(event)
      case event
      when :lanes_ended, :busy then hear_lanes(event)
      when "TERM", "QUIT" then stop_gracefully
      when :leave then leave(@lanes.process.failed? ? 1 : 0)
      when "INT" then stop_at_once
      when "HUP" then hang_up
      when "USR1" then reopen
      when "USR2" then deploy("SIGUSR2")
      when :restart then deploy("#{@config[:restart_file]} has changed")
      end
    end
  end
end
