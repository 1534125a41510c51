# frozen_string_literal: true

require_relative "../commands"
require_relative "../control/control"
require_relative "../restart_file"
require_relative "../stop"
require_relative "../../sockets/listeners"
require_relative "../../sockets/passed_listeners"
require_relative "../../system/quiet_signals"
require_relative "../../system/start_command"
require_relative "../../system/working_directory"

module Bontebok
  class SingleProcess
    # Deploys new code. The process finishes its requests and executes the start command in its place. The listeners
    # stay open, so clients that connect in the meantime wait for the new program. If the command cannot be executed,
    # the process serves on. Without a noted start command, there is no deploy.
    class InPlaceDeploy
      LOADED = "the application was loaded before the server: restart the program"

      # The ControlClient that waits for the new program; nil: none waits.
      attr_reader :client

      # service: the ServiceReport. ready: returns whether the process serves. The block lets the threads retire.
      def initialize(effective, commands:, stop:, control:, service:, log:, ready:, &retire)
        @effective = effective
        @stop = stop
        @control = control
        @service = service
        @log = log
        @ready = ready
        @retire = retire
        commands.on("USR2") { |signal| order("SIG#{signal}") }
        commands.on(:restart) { order("#{config[:restart_file]} has changed") }
        commands.answer("deploy") do |request, client|
          refusal = %w[supervisor canary].find { |option| request[option] }
          refusal ? commands.refuse(client, "deploy --#{refusal}") : answer(request, client)
        end
      end

      # Called before the application is loaded, so that a change is noticed while the application loads. Called
      # again if a deploy has failed. The working directory may have gone by then.
      def note_restart_file
        path = config[:restart_file] or return
        @restart_file ||= File.expand_path(path, WorkingDirectory.name)
        @restart_file_seen = RestartFile.look(@restart_file)
      end

      # The block is called in another thread after each change.
      def watch_restart_file(&)
        @restart_watch&.stop
        @restart_watch = @restart_file && RestartFile.watch(@restart_file, seen: @restart_file_seen, &)
      end

      def under_way? = !@kept.nil?

      # True if the process was told to end during a deploy.
      def canceled? = @canceled

      # The process ends. Nobody takes the sockets that were kept for the next program, so their files are removed.
      def cancel
        return unless under_way?

        @canceled = true
        Listeners.new(kept_listeners, log: @log).close
        @client&.finish(1, Stop::TEXT)
        @totals.each(&:close)
        @kept = nil
      end

      # Returns nil if the command cannot be executed, or the exit status if a signal has told the process to end. From
      # now on, these signals end the process at once, because a handler would lose them. HUP, USR1 and USR2 must not
      # end the new program before it has handlers. A program that is executed inherits IGNORE.
      def execute(events)
        %w[TERM QUIT INT].each { |signal| Signal.trap(signal, "SYSTEM_DEFAULT") }
        return cancel || 0 if events.take.intersect?(%w[TERM QUIT INT])

        variables = { PassedListeners::VARIABLE => @kept, **(@stop.drains? ? { Stop::DRAINS => "1" } : {}),
                      **@service.variables, **client_variable, **totals_variable }
        QuietSignals.ignore(%w[HUP USR1 USR2]) do |names|
          StartCommand.execute(variables.merge(QuietSignals.variables(names)))
        end
      rescue SystemCallError => e
        @log.error("#{fault(e)}: the process serves on")
        @fault = fault(e)
        @client&.finish(1, @fault)
        nil
      end

      # Called if the command could not be executed. The application is still loaded. Requests that were not finished in
      # time go on: their lanes tell their end to the former queue. Returns the Listeners from now on, for #bind.
      def take_back
        former = kept_listeners
        listeners.worker_links.close
        ENV.update(totals_variable)
        @kept = @client = nil
        Listeners.of(config, log: @log, former: former, stored: listeners.stored?)
      end

      # Counts the start, or the end of a deploy that has failed.
      def note_serving
        totals = listeners.worker_links.totals
        return totals.started unless @fault

        totals.deployed("failed", "the deploy failed: #{@fault}")
        @fault = nil
      end

      private

      def config = @effective.config

      def listeners = @effective.listeners

      def answer(request, client)
        return client.finish(Commands::BUSY, "busy: the process is executed again") if under_way?
        return client.finish(1, Stop::TEXT) if @stop.begun?
        return client.finish(1, LOADED) unless StartCommand.noted?

        fault = order("the command deploy")
        return client.finish(1, fault) unless under_way?
        return @client = @control.release(client) if request["wait"]

        client.finish(0, "the process is executed again when its requests are finished")
      end

      # Returns the reason if the deploy fails at once.
      def order(reason)
        @service.reload
        return @log.info("#{reason}: the server stops already") if @stop.begun?
        return @log.info("#{reason}: the server still starts") unless @ready.call
        return @log.error("#{reason}: #{LOADED}") unless StartCommand.noted?

        keep(reason)
        @stop.how = :retire
        @retire.call
      rescue SystemCallError => e
        fault(e).tap { |text| @log.error("#{reason}: #{text}") }
      end

      # Keeps the sockets for the new program.
      def keep(reason)
        StartCommand.check
        @log.info("#{reason}: the process is executed again when its requests are finished")
        @totals = listeners.worker_links.totals.descriptors.map(&:dup)
        @kept = PassedListeners.keep(listeners)
      end

      def fault(error) = "the start command cannot be executed: #{error.message}"

      def kept_listeners = PassedListeners.inherit({ PassedListeners::VARIABLE => @kept })

      # The descriptors belong to the next program from now on, or to this one, if it takes them back.
      def totals_variable
        return {} if @totals.empty?

        @totals.each { |io| io.autoclose = io.close_on_exec = false }
        { Totals::VARIABLE => @totals.map(&:fileno).join(",") }
      end

      def client_variable
        return {} if @client.nil? || @client.closed?

        @client.to_io.close_on_exec = false
        { Control::CLIENT => @client.to_io.fileno.to_s }
      end
    end
  end
end
