# frozen_string_literal: true

module Bontebok
  class SingleProcess
    # The part of SingleProcess that obeys commands (see Control).
    module Commands
      # Commands that need a supervisor.
      FOR_WORKERS = %w[rollback restart-workers workers].freeze

      private

      def obey_command(request, client)
        case request["command"]
        when *FOR_WORKERS then refuse(client, "the command #{request['command']}")
        when "deploy" then command_deploy(request, client)
        when "reopen" then command_reopen(client)
        else obey_common_command(request, client)
        end
      end

      def refuse(client, what)
        client.finish(1, "#{what} needs workers: this server has one process (-w 0)")
      end

      def command_deploy(request, client)
        return refuse(client, "deploy --supervisor") if request["supervisor"]
        return refuse(client, "deploy --canary") if request["canary"]
        return client.finish(Control::BUSY, "busy: the process is executed again") if @kept
        return client.finish(1, "the server stops") if stops?
        return client.finish(1, InPlaceDeploy::LOADED) unless StartCommand.noted?

        fault = deploy("the command deploy")
        return client.finish(1, fault) unless @kept
        return @waiting_client = @control.release(client) if request["wait"]

        client.finish(0, "the process is executed again when its requests are finished")
      end

      def command_reopen(client)
        reopen
        client.finish(0, "the log files are opened again")
      end

      def server_status
        @lanes&.count_gc
        { **common_status, generation: 1, workers: 0, state: state, mode: "single" }
      end

      def state
        return "deploying" if @kept
        return "stopping" if stops?

        @drains ? "draining" : "serving"
      end
    end
  end
end
