# frozen_string_literal: true

require_relative "../../sockets/passed_listeners"
require_relative "../../system/code_files"
require_relative "../../system/early_signals"
require_relative "../../system/quiet_signals"
require_relative "../../system/start_command"
require_relative "../deploy_report"
require_relative "../pidfile"
require_relative "../restart_file"
require_relative "held_signals"
require_relative "state"
require_relative "trial"

module Bontebok
  class Supervisor
    # The part of Supervisor that executes the start command in place of this process (`bontebok deploy --supervisor`).
    # The pid, the children and the descriptors stay. First a child tries the new program (Trial). If the program is
    # good, this process executes it and passes its State. Resumption is the part of the new program.
    module Replacement
      # The trial also opens spare descriptors, so that it fails if the program could not open what it needs in this
      # process: the descriptors of the state, a copy of each, and at most this many others (the client, the queue of
      # signals, the pid file, a file that is loaded).
      MORE_DESCRIPTORS = 8

      # Called in the new program, instead of #run. From now on the supervisor handles the signals, and only #work can
      # fail.
      def resume(state)
        take_values(state)
        prepare
        @listeners.take_effect(@listeners)
        @masters.restore(state.masters, @serving)
        state.listeners("control").each { |listener| @control.take(listener) }
        @adopted.take
        [*state["signals"], *EarlySignals.take].each { |name| @events.push(name) }
        clients = state.copies("client", UNIXSocket).map { |socket| ControlClient.new(socket) }
        state.close
        tell(state["failure"], *clients)
      end

      private

      def take_values(state)
        @steps.clear
        @last_generation = state.fetch("generation")
        @serving.number, @serving.version = state.fetch("serving")
        @workers_at_start = state.fetch("workers")
        @drains = state["drains"]
        seen = state["restart_file"]
        @seen = { last: seen.empty? ? nil : Time.at(*seen, :nsec) } if seen
        @life_line = LifeLine.new(state.copies("life_line")) if state["life_line"]
      end

      def tell(failure, client = nil)
        text = "the supervisor runs bontebok #{VERSION}, ruby #{RUBY_VERSION}"
        failure ? @log.error(failure) : @log.info(text)
        client&.finish(failure ? 1 : 0, failure || text)
      end

      # The new program would not know a server that starts beside this one, and would not wait for it (Newcomer).
      def command_replace(client)
        return client.finish(1, "the server stops") if @stop.begun?
        return client.finish(1, Deploys::LOADED) if @release
        return client.finish(Commands::BUSY, "busy: a master or a supervisor starts already") if busy? || @trial
        return client.finish(Commands::BUSY, "busy: another server starts beside this one") if @arrivals.starting?

        file = CodeFiles.changeable if @config.account.change?
        return client.finish(1, "the supervisor runs as root, and another user can change #{file}") if file

        @log.info("the command deploy --supervisor: a child tries the new program")
        @trial = start_trial(client)
      end

      def start_trial(client)
        reader, stderr = IO.pipe
        state = state_to_pass
        tried = state.with("masters" => [], "life_line" => nil, "control" => nil, "pidfile" => nil,
                           "spare" => (2 * state.size) + MORE_DESCRIPTORS)
        process = ForkedProcess.fork(to_close: [*own_descriptors, reader]) do |channel|
          become_trial(tried, channel, stderr)
        end
        report = DeployReport.new(@deploys.number, nil, @log, kind: :trial, reader: reader, clients: [client])
        Trial.new(process, report, Generations.limit(@config))
      rescue StandardError
        reader&.close
        raise
      ensure
        stderr&.close
      end

      # Runs in the forked process. The program gets copies of the listeners and of the links, and nothing else.
      def become_trial(tried, channel, stderr)
        $stderr.reopen(stderr)
        tried = tried.with("answer" => channel.to_io.fileno)
        tried.pass_descriptors
        QuietSignals.ignore { StartCommand.execute(tried.variable) }
      rescue SystemCallError => e
        @log.error("the new program cannot be executed", e)
        1
      end

      # True if the supervisor has forked the process. All other children come from dead masters.
      def forked?(pid)
        @masters.pid?(pid) || @trial&.pid == pid
      end

      # Called in the supervisor's loop.
      def judge_trial
        verdict = @trial&.verdict or return
        return end_trial(verdict) unless verdict == true
        if @stop.begun? || busy? || @arrivals.starting?
          return end_trial("busy: another command came first", Commands::BUSY)
        end

        HeldSignals.hold
        Thread.pass # Ruby runs the handlers of the signals that have arrived
        signals = @events.take
        return replace_program if signals.empty?

        HeldSignals.release
        signals.each { |signal| @events.push(signal) } # they are handled first
      end

      # status: the exit status of the command.
      def end_trial(reason, status = 1)
        @log.error("the supervisor is not replaced: #{reason}")
        @trial.fail(reason, status)
        @trial = nil
      end

      # The former generation that stays loaded ends, because the new program does not know its configuration. A client
      # may await the end of a failed master.
      def replace_program
        @masters.release
        @deploys.supersede
        state = state_to_pass("client" => @trial.client&.to_io&.fileno, "former" => StartCommand.fixed)
        state.pass_descriptors
        @log.info("the supervisor executes the new program")
        QuietSignals.ignore do |names|
          StartCommand.execute({ **state.with("ignored" => names).variable, **@service.variables })
        end
      rescue SystemCallError, JSON::GeneratorError => e
        state&.pass_descriptors(pass: false)
        HeldSignals.release
        end_trial(e.message)
      end

      def state_to_pass(others = {})
        State.of("config" => SupervisorConfig.dump(@config), "user" => @config.account.ids, "directory" => @directory,
                 "umask" => File.umask, "pidfile" => Pidfile.held,
                 "generation" => @deploys.number, "serving" => [@deploys.serving.number, @deploys.serving.version],
                 "workers" => @masters.workers, "drains" => @stop.drains?,
                 "restart_file" => @restart_watch && RestartFile.seen,
                 "masters" => @masters.carry.map { |state, channel| [state, channel.to_io.fileno] },
                 "listeners" => PassedListeners.number(@listeners), "stored" => @listeners.stored?,
                 "life_line" => @life_line&.ends&.map(&:fileno),
                 "control" => @control.listener&.then { |one| PassedListeners.number([one]) },
                 **links_to_pass, **others)
      end

      def links_to_pass
        links = @listeners.worker_links
        { "links" => links.descriptors.map(&:fileno), "shared" => links.pids.any?,
          "metrics" => links.totals.descriptors.map(&:fileno) }
      end
    end
  end
end
