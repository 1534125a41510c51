# frozen_string_literal: true

require_relative "../../system/code_files"
require_relative "../../system/quiet_signals"
require_relative "../../system/start_command"
require_relative "../commands"
require_relative "../generations/deploy_report"
require_relative "../forked_process"
require_relative "../generations"
require_relative "../stop"
require_relative "deploy_orders"
require_relative "held_signals"
require_relative "state"

module Bontebok
  class Supervisor
    # Executes the start command in place of the supervisor (`bontebok deploy --supervisor`). The pid, the children and
    # the descriptors stay. First a child tries the new program, which reads the state, says :ready and ends. If the
    # program is good, this process executes it and passes the State of the supervisor. Resumption is the part of the
    # new program.
    class Replacement
      # The trial also opens spare descriptors, so that it fails if the program could not open what it needs in this
      # process: the descriptors of the state, a copy of each, and at most this many others (the client, the queue of
      # signals, the pid file, a file that is loaded).
      MORE_DESCRIPTORS = 8

      # The ForkedProcess of the trial, which the supervisor reaps; nil: there is none.
      attr_reader :trial

      # events: the SignalQueue. masters: the Generations. orders: the DeployOrders. The block gets values, and returns
      # the State with them.
      def initialize(events, deploys, masters, orders, stop:, arrivals:, service:, log:, &state)
        @events = events
        @deploys = deploys
        @masters = masters
        @orders = orders
        @stop = stop
        @arrivals = arrivals
        @service = service
        @log = log
        @state = state
      end

      # The command. The new program would not know a server that starts beside this one, and would not wait for it
      # (Newcomer).
      def begin(client)
        return client.finish(1, Stop::TEXT) if @stop.begun?
        return client.finish(1, DeployOrders::LOADED) if @deploys.loaded?
        return client.finish(Commands::BUSY, "busy: a master or a supervisor starts already") if @orders.busy? || @trial
        return client.finish(Commands::BUSY, "busy: another server starts beside this one") if @arrivals.starting?

        file = CodeFiles.changeable if @deploys.serving.config.account.change?
        return client.finish(1, "the supervisor runs as root, and another user can change #{file}") if file

        @log.info("the command deploy --supervisor: a child tries the new program")
        start_trial(client)
      end

      def sources = @trial ? [*(@trial.channel unless @trial.deaf?), *@report.sources] : []

      # The time of the next #tick; nil: none.
      def deadline = (@trial.deadline if @trial&.deadline&.finite?)

      # Called when all signals that were taken are handled. If signals have come since then, they are handled first.
      def tick
        verdict = judge if @trial
        return unless verdict
        return fail(verdict) unless verdict == true
        if @stop.begun? || @orders.busy? || @arrivals.starting?
          return fail("busy: another command came first", Commands::BUSY)
        end

        HeldSignals.hold
        Thread.pass # Ruby runs the handlers of the signals that have arrived
        signals = @events.take
        return replace_program if signals.empty?

        HeldSignals.release
        signals.each { |signal| @events.push(signal) }
      end

      # status: the exit status of the command.
      def fail(reason, status = 1)
        return unless @trial

        @log.error("the supervisor is not replaced: #{reason}")
        @report.take
        @report.finish(status, reason)
        end_trial
      end

      private

      def start_trial(client)
        reader, stderr = IO.pipe
        state = @state.call
        tried = state.with("masters" => [], "life_line" => nil, "control" => nil, "pidfile" => nil,
                           "spare" => (2 * state.size) + MORE_DESCRIPTORS)
        @report = DeployReport.new(@deploys.number, nil, @log, kind: :trial, reader: reader, clients: [client])
        @ready = false
        @trial = ForkedProcess.fork { |channel| become_trial(tried, channel, stderr) }
        @trial.expect(Generations.limit(@deploys.serving.config))
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

      # Returns nil while the trial goes on, true if the program is good, else why it is not.
      def judge
        @report.take
        @ready ||= !@trial.deaf? && @trial.hear.include?(:ready)
        @trial.check unless @trial.ended?
        return @ready || "the new program has ended: #{@trial.ending}" if @trial.ended?

        "the new program did not become ready within #{@trial.limit} s" if @trial.overdue?
      end

      def end_trial
        @trial.kill unless @trial.ended?
        Process.detach(@trial.pid)
        @trial.channel.close
        @report.close
        @trial = nil
      end

      # The former generation that stays loaded ends, because the new program does not know its configuration. A client
      # may await the end of a failed master.
      def replace_program
        @masters.release
        @deploys.supersede
        state = @state.call("client" => @report.client&.to_io&.fileno, "former" => StartCommand.fixed)
        state.pass_descriptors
        @log.info("the supervisor executes the new program")
        QuietSignals.ignore do |names|
          StartCommand.execute({ **state.with("ignored" => names).variable, **@service.variables })
        end
      rescue SystemCallError, JSON::GeneratorError => e
        state&.pass_descriptors(pass: false)
        HeldSignals.release
        fail(e.message)
      end
    end
  end
end
