# frozen_string_literal: true

require_relative "commands"
require_relative "control/arrivals"
require_relative "control/control"
require_relative "control/hang_up"
require_relative "effective"
require_relative "pidfile"
require_relative "single_process/in_place_deploy"
require_relative "single_process/load_watch"
require_relative "single_process/process_exit"
require_relative "single_process/serving"
require_relative "start_lines"
require_relative "stop"
require_relative "../config/hooks"
require_relative "../log/log_files"
require_relative "../start_error"
require_relative "../start_failure"
require_relative "../system/clock"
require_relative "../system/fork_guard"
require_relative "../system/loop"
require_relative "../system/main_thread"
require_relative "../system/signal_queue"
require_relative "../system/start_command"
require_relative "../system/working_directory"
require_relative "../workers/lanes"
require_relative "../workers/release"
require_relative "../workers/stats/this_server"

module Bontebok
  # The server with `-w 0`: supervisor, master and worker are one process, which never forks. The application may use
  # the terminal. This class is for debuggers, and for platforms that require a single process.
  class SingleProcess
    # TTIN and TTOU are not handled, because they belong to the terminal's job control.
    SIGNALS = %w[TERM QUIT INT HUP USR1 USR2].freeze

    # release: the Release, if rackup has loaded its application; nil: this class loads it.
    # service: the ServiceReport.
    def initialize(config, listeners, log:, service:, release: nil)
      @config = config
      @effective = Effective.new(config, listeners)
      @log = log
      @service = service
      @release = release
      @began = Clock.now
      make_parts
    end

    # Returns the exit status (see ProcessExit). Raises StartError.
    def run
      status = run_to_end do
        prepare
        @config.account.assume
        @release ||= load_release
      end
      while @deploy.under_way?
        ended = @deploy.execute(@events) and return ended
        @exit.lift
        status = run_to_end { take_back }
      end
      status
    end

    private

    def listeners = @effective.listeners

    def make_parts
      @commands = Commands.new(@log)
      parts = { commands: @commands, log: @log }
      arrivals = Arrivals.new(@log)
      @service.connect(@effective) { describe }
      @stop = Stop.new(@effective, **parts, arrivals: arrivals, service: @service,
                                            drains: Stop.drains?(ENV)) { |how| drain(how) }
      parts[:stop] = @stop
      @control = Control.new(@effective, **parts, arrivals: arrivals) { show }
      @hang_up = HangUp.new(@effective, **parts, again: -> { @events.push("HUP") }) { reopen }
      @deploy = InPlaceDeploy.new(@effective, **parts, control: @control, service: @service,
                                                       ready: -> { !@serving.nil? }) { @serving.finish(:retire) }
      @exit = ProcessExit.new(@config, @stop, @deploy, log: @log) { unlink }
      obey_users
    end

    # The block prepares the process to serve.
    def run_to_end
      @deploy.note_restart_file
      yield
      MainThread.guard { serve }
      @log.info("stopped") unless @deploy.under_way?
      @exit.status
    rescue AppLoader::Failed => e
      @log.error(e.message, e.cause)
      @exit.status
    rescue ThreadError => e
      raise StartError, "no room for threads: #{e.message}"
    ensure
      unlink
      @exit.limit(@serving&.deadline)
      @config.hooks.attempt(:after_stopped, log: @log) if @lanes
    end

    def prepare
      Process.setproctitle("bontebok")
      ForkGuard.install do
        [listeners, StartFailure, Pidfile, @log, *@control.descriptors, *@deploy.client].each(&:disown)
      end
      @events = SignalQueue.new(*SIGNALS)
      StartCommand.enter(WorkingDirectory.name) if StartCommand.noted?
      listeners.bind
      ThisServer.is(links: listeners.worker_links, config: @config, mode: "single", pid: Process.pid, generation: 1)
      @stop.announce
    end

    def obey_users
      @commands.on("TERM", "QUIT") { @deploy.under_way? ? cancel_deploy : @stop.begin(ready: !@serving.nil?) }
      @commands.on("INT") { stop_at_once }
      @commands.on("USR1") { reopen }
      @commands.answer("reopen") do |_, client|
        reopen
        client.finish(0, "the log files are opened again")
      end
    end

    def load_release
      watch = LoadWatch.new(@events, SIGNALS, @commands, @hang_up, @service) { end_while_loading }
      watch.run { Release.load(@config, @log) }
    end

    def end_while_loading
      @log.info("stopped")
    ensure
      @exit.now(0)
    end

    def serve
      @deploy.watch_restart_file { @events.push(:restart) }
      @config.account.act { listeners.listen }
      @lanes = Lanes.new(@config, listeners, @release, worker: Hooks::Worker.new(1, Process.pid), log: @log,
                                                       events: @events)
      @lanes.start
      @serving = Serving.new(@lanes, @config.seconds(:graceful_timeout))
      note_start
      run_booted_hook
      loop_of_events.run { @serving.over? }
    end

    def note_start
      StartLines.write(@log, @config, listeners)
      @control.open
      listeners.own
      StartLines.write_ready(@log, @config, listeners, @began)
      StartFailure.close
      @log.dismiss_witness
      @deploy.note_serving
      @control.finish_deploy
    end

    # Without the guard of MainThread: a thread of the hook would inherit it, and Timeout could not interrupt it.
    def run_booted_hook
      MainThread.unguard { @config.hooks.attempt(:on_booted, log: @log) }
    rescue Exception => e # rubocop:disable Lint/RescueException
      @lanes.process.interrupted(e)
    end

    # The event :max_requests is ignored, because no other process could replace this process.
    def loop_of_events
      Loop.new(@events) { |exception| @lanes.process.interrupted(exception) }.tap do |events|
        @serving.connect(events, late: -> { give_up })
        [@stop, @service].each { |part| events.at(part) }
        @control.connect(events)
        events.on(:leave) { @deploy.under_way? ? cancel_deploy : @stop.leave(failed: @lanes.process.failed?) }
        @commands.connect(events)
      end
    end

    # Only opens the logs again, because there are no workers to replace.
    def reopen
      @service.reload
      LogFiles.renew(@config, @log)
      @lanes&.reopen_logs
      @log.info("log files are opened again")
    end

    # Also before the process serves: after a deploy, the sockets have files already.
    def unlink
      @control.close
      listeners.unlink
    end

    def drain(how)
      @stop.end(how)
      @log.info("stopping")
      @serving.finish(how)
    end

    def stop_at_once
      @deploy.cancel
      @log.info("stopping at once")
      @stop.how = :quit
      @serving.cut
      @service.tick
    end

    def cancel_deploy
      @deploy.cancel
      @log.info("stopping")
    end

    # Ends the process before its requests are finished, with the exit status of the stop. In a deploy, the process is
    # executed again, or serves on beside these requests.
    def give_up
      @log.error("requests were not finished in time")
    ensure
      status = @deploy.under_way? ? @deploy.execute(@events) : @exit.status
      @exit.now(status) if status
      @serving.leave
    end

    def take_back
      @events = SignalQueue.new(*SIGNALS)
      @effective.listeners = @deploy.take_back
      listeners.bind
      ThisServer.facts.links = listeners.worker_links
      @stop.announce
      @stop.how = nil
      @began = Clock.now
    end

    def describe
      if @deploy.under_way? then [:reloading, "the process is executed again when its requests are finished"]
      elsif @stop.begun? then [:stopping, "stopping: requests are finished"]
      elsif @serving && !@serving.over? then [:serving, "one process serves"]
      else [:starting, "starting: the application is loaded"]
      end
    end

    # For the commands `status` and `watch`.
    def show
      @lanes&.count_gc
      { generation: 1, workers: 0, state: state, mode: "single" }
    end

    def state
      return "deploying" if @deploy.under_way?
      return "stopping" if @stop.begun?

      @stop.drains? ? "draining" : "serving"
    end
  end
end
