# frozen_string_literal: true

require_relative "../restart_file"
require_relative "../../sockets/listeners"
require_relative "../../sockets/passed_listeners"
require_relative "../../system/quiet_signals"
require_relative "../../system/start_command"

module Bontebok
  class SingleProcess
    # The part of SingleProcess that deploys new code. The process finishes its requests and executes the start command
    # in its place. The listeners stay open, so clients that connect in the meantime wait for the new program. If the
    # command cannot be executed, the process serves on. Without a noted start command, there is no deploy.
    module InPlaceDeploy
      LOADED = "the application was loaded before the server: restart the program"

      private

      # Called before the application is loaded, so that a change is noticed while the application loads. Called
      # again if a deploy has failed. The working directory may have gone by then.
      def note_restart_file
        path = @config[:restart_file] or return
        @restart_file ||= File.expand_path(path, WorkingDirectory.name)
        @restart_file_changed = RestartFile.changed(@restart_file)
      end

      def watch_restart_file
        @restart_watch&.kill
        return unless @restart_file

        @restart_watch = RestartFile.watch(@restart_file, last: @restart_file_changed) { @events.push(:restart) }
      end

      # Returns the reason if the deploy fails at once.
      def deploy(reason)
        @service.reload
        return @log.info("#{reason}: the server stops already") if stops?
        return @log.info("#{reason}: the server still starts") unless @lanes
        return @log.error("#{reason}: #{LOADED}") unless StartCommand.noted?

        StartCommand.check
        @log.info("#{reason}: the process is executed again when its requests are finished")
        @kept = PassedListeners.keep(@listeners)
        @kept_totals = @listeners.worker_links.totals.descriptors.map(&:dup)
        @status = 1
        @deadline = Deadline.new(@config.seconds(:graceful_timeout))
        @lanes.retire
      rescue SystemCallError => e
        fault(e).tap { |text| @log.error("#{reason}: #{text}") }
      end

      # Called with TERM. During a deploy, the process ends instead of being executed again.
      def stop_deploying
        return unless @kept

        forget_deploy
        @status = 0
        @log.info("stopping")
      end

      # The process ends. Nobody takes the sockets that were kept for the next program, so their files are removed.
      def forget_deploy
        Listeners.new(PassedListeners.inherit({ PassedListeners::VARIABLE => @kept }), log: @log).close
        @waiting_client&.finish(1, "the server stops")
        @kept_totals.each(&:close)
        @kept = nil
      end

      # Returns nil if the command cannot be executed, or the exit status if a signal has told the process to end. From
      # now on, these signals end the process at once, because a handler would lose them. HUP, USR1 and USR2 must not
      # end the new program before it has handlers. A program that is executed inherits IGNORE.
      def execute_again
        %w[TERM QUIT INT].each { |signal| Signal.trap(signal, "SYSTEM_DEFAULT") }
        return forget_deploy || 0 if @events.take.intersect?(%w[TERM QUIT INT])

        drains = @drains ? { Control::DRAINS => "1" } : {}
        variables = { PassedListeners::VARIABLE => @kept, **drains, **@service.variables, **client_variable,
                      **totals_variable }
        QuietSignals.ignore(%w[HUP USR1 USR2]) do |names|
          StartCommand.execute(variables.merge(QuietSignals.variables(names)))
        end
      rescue SystemCallError => e
        @log.error("#{fault(e)}: the process serves on")
        @deploy_fault = fault(e)
        @waiting_client&.finish(1, fault(e))
        nil
      end

      def fault(error) = "the start command cannot be executed: #{error.message}"

      # Called if the command could not be executed. The application is still loaded. Requests that were not finished in
      # time go on: their lanes tell their end to the former queue.
      def take_back
        @events = SignalQueue.new(*SingleProcess::SIGNALS)
        former = PassedListeners.inherit({ PassedListeners::VARIABLE => @kept })
        @listeners.worker_links.close
        @listeners = Listeners.of(@config, log: @log, former: former, stored: @listeners.stored?)
        ENV.update(totals_variable)
        @listeners.bind
        announce(@drains)
        @kept = @deadline = @waiting_client = nil
        @began = Clock.now
      end

      def note_serving
        totals = @listeners.worker_links.totals
        return totals.started unless @deploy_fault

        totals.deployed("failed", "the deploy failed: #{@deploy_fault}")
        @deploy_fault = nil
      end

      # The descriptors belong to the next program from now on, or to this one, if it takes them back.
      def totals_variable
        return {} if @kept_totals.empty?

        @kept_totals.each { |io| io.autoclose = io.close_on_exec = false }
        { Totals::VARIABLE => @kept_totals.map(&:fileno).join(",") }
      end

      def client_variable
        return {} if @waiting_client.nil? || @waiting_client.closed?

        @waiting_client.to_io.close_on_exec = false
        { Control::CLIENT => @waiting_client.to_io.fileno.to_s }
      end
    end
  end
end
