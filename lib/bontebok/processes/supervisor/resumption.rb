# frozen_string_literal: true

require_relative "../../config/account"
require_relative "../../config/option_table"
require_relative "../../config/supervisor_config"
require_relative "../../log/log"
require_relative "../../sockets/control/control_client"
require_relative "../../sockets/channel"
require_relative "../../sockets/listeners"
require_relative "../../sockets/passed_listeners"
require_relative "../../sockets/service/service_report"
require_relative "../../sockets/worker_links"
require_relative "../../system/early_signals"
require_relative "../../system/error_text"
require_relative "../../system/quiet_signals"
require_relative "../../system/start_command"
require_relative "../../system/working_directory"
require_relative "../pidfile"
require_relative "../process_preparation"
require_relative "../supervisor"
require_relative "held_signals"
require_relative "state"

module Bontebok
  class Supervisor
    # A supervisor has executed this program, in a child that tries the program, or in its own place (see Replacement).
    # This class makes the supervisor from the State. If that fails, the former program is executed again.
    class Resumption
      # What SupervisorConfig takes from the former configuration: the account, and the values that the former version
      # does not know.
      Former = Struct.new(:account) do
        def [](key)
          OptionTable[key].default
        end

        def auto_workers? = false
      end
      private_constant :Former

      # manager: the ServiceManager.
      def initialize(state, manager)
        @state = state
        @manager = manager
      end

      # Returns the exit status. Raises StartError.
      def run
        return try if @state["answer"]

        Pidfile.keep(@state["pidfile"]) { resumed.work }
      end

      private

      def try
        answer = Channel.inherit(@state["answer"])
        supervisor
        Array.new(@state["spare"].to_i) { $stderr.dup }
        answer.say(:ready)
        exit!(0)
      end

      def resumed
        [*@state["ignored"]].each { |name| Signal.trap(name, QuietSignals::NOTHING) }
        @state.pass_descriptors(pass: false)
        prepare
        supervisor.tap do |supervisor|
          supervisor.resume(@state)
          tell(*@state.copies("client", UNIXSocket))
          @state.close
        end
      rescue SignalException
        raise
      rescue Exception => e # rubocop:disable Lint/RescueException
        go_back(e)
      end

      def prepare
        File.umask(@state.fetch("umask"))
        WorkingDirectory.enter(@state.fetch("directory"), "the former supervisor")
      end

      # socket: of the command that waits; nil: it has gone.
      def tell(socket = nil)
        failure = @state["failure"]
        text = failure || "the supervisor runs bontebok #{VERSION}, ruby #{RUBY_VERSION}"
        @log.write(failure ? :error : :info, text)
        ControlClient.new(socket).finish(failure ? 1 : 0, text) if socket
      end

      def supervisor
        @state.check
        config = SupervisorConfig.new(@state.fetch("config"), Former.new(Account.new(*@state.fetch("user"))))
        @log = Log.new(format: config[:log_format], level: config[:log_level])
        ProcessPreparation.again(@log)
        Supervisor.new(config, listeners, log: @log,
                                          service: ServiceReport.new(@manager, ListenerStore.new(@manager)))
      end

      def listeners
        Listeners.new(@state.listeners("listeners"), log: @log, own: [], worker_links: worker_links,
                                                     stored: @state.fetch("stored"))
      end

      # The links of another version of Bontebok can have another layout. Then the new supervisor has links of its own,
      # unless the workers that serve use the present ones.
      def worker_links
        metrics = @state.copies("metrics")
        WorkerLinks.attach(@state.copies("links"), totals: Totals.attach(metrics))
      rescue ArgumentError => e
        raise StartError, "deploy this version first, then the supervisor: #{e.message}" if @state.fetch("shared")

        WorkerLinks.open(totals: Totals.attach(metrics, own: false))
      end

      # Nobody may read standard error.
      def go_back(error)
        former = @state["former"] or raise error
        LogStream.new($stderr).write(error.full_message(highlight: false), Log::WRITE_TIMEOUT)
        @state.pass_descriptors
        HeldSignals.hold
        state = @state.with("former" => nil, "failure" => "the new program has failed: #{ErrorText.first_line(error)}",
                            "signals" => EarlySignals.take)
        QuietSignals.ignore { StartCommand.execute_former(former, { **state.variable, **@manager.variables }) }
      end
    end
  end
end
